"""Collapsed matches put in their one order, with the signature as text.

The same for every runner, so that runner, slices and parallelism change no byte.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.numeric.arrays import Reals
from cepctl.numeric.precision import CONFIDENCE_DECIMALS

_PARTS = 10.0**CONFIDENCE_DECIMALS


def match_text(signature: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Signatures as text: ids separated by a blank, those of a Kleene group by `+`.

    `%`, blank and `+` inside ids are percent-encoded, so that the text is unambiguous.

    Examples
    --------
    >>> nested = pa.array([[["a 1"], ["b1", "b2"]]], pa.list_(pa.list_(pa.string())))
    >>> match_text(nested).to_pylist()
    ['a%201 b1+b2']
    """
    if isinstance(signature, pa.ChunkedArray):
        signature = signature.combine_chunks()
    if isinstance(signature, pa.ChunkedArray):
        signature = pa.concat_arrays(signature.chunks)
    inner = signature.flatten()
    lists = pa.ListArray.from_arrays(_offsets(inner), encoded_ids(inner.flatten()))
    return joined_text(pa.ListArray.from_arrays(_offsets(signature), lists))


def joined_text(signature: pa.ListArray) -> pa.Array:
    """Signatures of encoded ids as text."""
    inner = signature.flatten()
    ids = inner.flatten()
    single = len(ids) == len(inner) and pc.all(pc.equal(pc.list_value_length(inner), 1)).as_py()
    groups = ids if single else pc.binary_join(pa.ListArray.from_arrays(_offsets(inner), ids), "+")
    return pc.binary_join(pa.ListArray.from_arrays(_offsets(signature), groups), " ")


def encoded_ids(ids: pa.Array) -> pa.Array:
    """Ids with `%`, blank and `+` percent-encoded, as they stand in a match.

    Examples
    --------
    >>> encoded_ids(pa.array(["a 1+b"])).to_pylist()
    ['a%201%2Bb']
    """
    for raw, encoded in (("%", "%25"), (" ", "%20"), ("+", "%2B")):
        if _occurs(raw, ids):
            ids = pc.replace_substring(ids, raw, encoded)
    return ids


def _occurs(character: str, texts: pa.Array) -> bool:
    """Whether a character may occur in texts: a look at their bytes, far cheaper than at each text."""
    held = texts.buffers()[-1]
    return held is not None and bool((np.frombuffer(held, np.uint8) == ord(character)).any())


def _offsets(lists: pa.ListArray) -> pa.Array:
    """Offsets of a list array into its own flattened values, also where it is a slice."""
    return pc.subtract(lists.offsets, lists.offsets[0]) if len(lists) else pa.array([0], pa.int32())


def ordered(matches: pa.Table, top: int | None = None) -> pa.Table:
    """Sort by confidence (rounded, descending), start and match; add the column `match`.

    `matches`: table with the columns signature, start, end, confidence and those of RETURN.  `top`: keep at
    most this many rows; None keeps all.
    """
    return in_order(with_text(matches), top)


def with_text(rows: pa.RecordBatch | pa.Table) -> pa.Table:
    """Rows with the column `match`, in the order that they have."""
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])
    text = match_text(rows.column("signature")) if rows.num_rows else pa.array([], pa.string())
    return table.add_column(0, "match", text)


def rounded(confidence: Reals) -> Reals:
    """Confidences as they decide the order.

    Examples
    --------
    >>> one, other = rounded(np.array([0.94, 0.9400000000000001]))
    >>> bool(one == other)
    True
    """
    return np.rint(confidence * _PARTS) / _PARTS


def rounded_column(confidence: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Confidences with nulls among them, as they decide the order.

    Arrow's own rounding to decimals leaves a float beside the decimal as it is where no digit is cut.
    """
    return pc.divide(pc.round(pc.multiply(confidence, _PARTS)), _PARTS)


def in_order(matches: pa.Table, top: int | None = None) -> pa.Table:
    """Sort rows that have their column `match`."""
    keys = pa.table(
        {
            "confidence": rounded_column(matches.column("confidence")),
            "start": matches.column("start"),
            "match": matches.column("match"),
        }
    )
    by = [("confidence", "descending"), ("start", "ascending"), ("match", "ascending")]
    order = pc.sort_indices(keys, by)
    return matches.take(order if top is None else order[:top])


def comparable(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values that Arrow can sort: false before true, and a column of nothing but nulls."""
    if pa.types.is_boolean(values.type) or pa.types.is_null(values.type):
        return values.cast(pa.int8())
    return values
