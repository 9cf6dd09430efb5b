"""The sketch that belongs to a dataset: beside it, whole, and of just these parts."""

from __future__ import annotations

from cepctl.datasets.stored import StoredDataset
from cepctl.errors import SketchError
from cepctl.sketches.folder import SketchFolder
from cepctl.sketches.identity import SUFFIX, identities, sketch_beside
from cepctl.sketches.manifest import MANIFEST, remedy
from cepctl.sketches.reading import Sketch


def is_sketch(path: str) -> bool:
    """Whether a path names a sketch, by its name or by what is there."""
    folder = SketchFolder.at(path)
    return folder.is_there() and (folder.path.endswith(SUFFIX) or folder.holds(MANIFEST))


def sketch_of(dataset: StoredDataset) -> Sketch | None:
    """The sketch that stands beside a dataset; None where there is none.

    Raises
    ------
    SketchError
        If it is damaged, of a newer version, or not of these parts.
    """
    folder = SketchFolder.at(sketch_beside(dataset))
    if folder.is_free():
        return None
    sketch = Sketch.at(folder.uri)
    sketched = [part.identity for each in sketch.manifest.datasets for part in each.parts]
    if sketched != identities(dataset):
        raise SketchError(
            f"{folder}: the sketch is not of the events that are in {dataset.location.uri} now; "
            f"{remedy(folder)}"
        )
    return sketch


def missing(dataset: StoredDataset) -> SketchError:
    """What is said where a dataset has no sketch."""
    folder = SketchFolder.at(sketch_beside(dataset))
    return SketchError(f"{dataset.location.uri} has no sketch; {remedy(folder)}")
