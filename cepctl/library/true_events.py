"""The events that are asked about with their true times, for whoever hides these: `calibrate` and `learn`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from cepctl.errors import EventSchemaError, UnsupportedQueryError, UsageError
from cepctl.library.assumed_order import without_assumed_order
from cepctl.library.exclusions import refuse_for_datasets
from cepctl.library.laws import LawFile
from cepctl.library.notices import tell_reading
from cepctl.library.options import TruthKeywords, raw_input, reading_in
from cepctl.library.raw_input import RawInput, given_ingest_options
from cepctl.notices import READING, tell
from cepctl.process.memory import MemoryBudget, budget_of, default_budget
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.calibration.blurs import Blur
    from cepctl.calibration.truth import TrueEvents
    from cepctl.library.events import Events
    from cepctl.matching.inputs import EventInputs
    from cepctl.schema import TimeUnit

TYPE = "event_type"
_COPIES = 6
"""Events are held as they are read, true, blurred, and as the columns of the engine."""


@dataclass(frozen=True)
class TruthAsked:
    """What is asked: a query, or pairs where its `text` is None; of which events, and how often.

    `blur` are the four ways to hide times, of which one is not None: coarsen, jitter, clock, model.
    `command`: who asks.
    """

    text: str | None
    blur: tuple[str | None, str | None, str | None, str | None]
    by: str | None = None
    steps: tuple[str, ...] = (TYPE,)
    part: str | None = None
    seed: int = 1
    repeat: int = 1
    blurred: str | None = None
    no_given: bool = False
    laws: LawFile | None = None
    command: str = "calibrate"


def asked_in(keywords: TruthKeywords, by: str | None, clock: str | None = None) -> TruthAsked:
    """What is asked in keywords of pairs of events whose key is `by`."""
    step, model = keywords.get("step", TYPE), keywords.get("model")
    path = None if model is None else str(model)
    return TruthAsked(
        text=None,
        blur=(keywords.get("coarsen"), keywords.get("jitter"), clock, path),
        by=by,
        steps=(step,) if isinstance(step, str) else tuple(step),
        part=keywords.get("part"),
        seed=keywords.get("seed", 1),
        no_given=keywords.get("no_given", False),
    )


@contextmanager
def events_told(
    events: Events, keywords: TruthKeywords
) -> Iterator[tuple[list[str], RawInput, MemoryBudget]]:
    """The paths of events while they are there, how they are read, and within which memory."""
    from cepctl.library.events import paths_of

    reading, most = reading_in(keywords, TruthKeywords), keywords.get("max_memory")
    choices = raw_input(reading)
    with ExitStack() as opened:
        paths = paths_of(events, opened)
        refuse_for_datasets(paths, reading)
        yield paths, choices, default_budget() if most is None else budget_of(most)


def truth_of(
    paths: Sequence[str], asked: TruthAsked, choices: RawInput, memory: MemoryBudget
) -> tuple[TrueEvents, Blur, TimeUnit]:
    """The events that are asked about with their true times, and how these are hidden; tells of reading."""
    from cepctl.calibration.blurs import blur_of
    from cepctl.matching.inputs import open_events

    _refuse_before_reading(asked)
    with open_events(paths, given_ingest_options(choices), memory) as opened:
        tell_reading(opened.summary)
        inputs = without_assumed_order(opened, asked.command)
        unit = inputs.schema.time_unit
        blur = blur_of(*asked.blur, unit)
        _refuse(inputs, asked, blur)
        attributes = _attributes_read(inputs, asked, blur)
        inputs.require_room(attributes, _COPIES + asked.repeat, memory, asked.command)
        truth = _truth(inputs, attributes, asked)
    _tell_unstamped(truth, blur, unit)
    return truth, blur, unit


def _refuse_before_reading(asked: TruthAsked) -> None:
    from cepctl.calibration.blurs import require_one_blur
    from cepctl.calibration.truth import PartOfKeys

    require_one_blur(*asked.blur)
    if asked.repeat < 1:
        raise UsageError(f"--repeat {asked.repeat} takes no seed; take 1 or more")
    if asked.part is not None:
        PartOfKeys.read(asked.part)
        if asked.by is None:
            raise UsageError("--part is a part of the keys; name their attribute with --by")
    if asked.blurred is not None and asked.repeat > 1:
        raise UsageError("--blurred writes the events of one seed; leave out --repeat")


def _refuse(inputs: EventInputs, asked: TruthAsked, blur: Blur) -> None:
    schema = inputs.schema
    if asked.by is not None:
        _require_attribute("--by", asked.by, inputs)
    for name in asked.steps:
        if name != TYPE:
            _require_attribute("--step", name, inputs)
    for name in sorted(blur.columns_read - {TYPE, "source", "event_id"}):
        _require_attribute(f"the blur {blur.text}", name, inputs)
    if schema.lasting:
        raise UnsupportedQueryError(
            f"{asked.command} of interval events is not supported; leave out what has an end"
        )
    if schema.given and not asked.no_given:
        raise UnsupportedQueryError(
            f"{asked.command} with [[given]] of the dataset is not supported; --no-given leaves that out"
        )
    if asked.blurred is not None:
        from cepctl.calibration.storing import refuse_to_keep

        refuse_to_keep(list(schema.attributes), asked.blurred)


def _require_attribute(where: str, name: str, inputs: EventInputs) -> None:
    known = inputs.schema.attributes
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"attributes: {', '.join(known) or 'none'}"
        raise EventSchemaError(f"{where}: no event has the attribute '{name}' ({hint})")


def _attributes_read(inputs: EventInputs, asked: TruthAsked, blur: Blur) -> list[str]:
    """The attributes that are needed: a query may ask for any, and all of them are kept."""
    known = inputs.schema.attributes
    if asked.text is not None or asked.blurred is not None:
        return list(known)
    from cepctl.calibration.blurring import ZONE

    needed = {asked.by, *asked.steps, *blur.columns_read, ZONE}
    return [name for name in known if name in needed]


def _truth(inputs: EventInputs, attributes: Sequence[str], asked: TruthAsked) -> TrueEvents:
    """The events that are asked about, with their true times."""
    from cepctl.calibration.truth import PartOfKeys, true_events

    truth = true_events(inputs.read(attributes), asked.by, inputs.schema.time_unit)
    if asked.text is None or asked.part is not None:
        whole, truth = len(truth), truth.with_keys()
        if len(truth) < whole:
            tell(READING, "note", f"left out {counted(whole - len(truth), 'event')} without {asked.by}")
    if asked.part is not None:
        truth = truth.part(PartOfKeys.read(asked.part))
    if not len(truth):
        raise UsageError("no event is left; name another part of the keys (--part), or another --by")
    return truth


def _tell_unstamped(truth: TrueEvents, blur: Blur, unit: TimeUnit) -> None:
    """Say how many events no clock stamped, though a rule tells clocks apart."""
    from cepctl.calibration.blurring import unstamped_events
    from cepctl.ingestion.clocks import unstamped_notes

    for note, count in unstamped_notes(unstamped_events(truth, blur, unit), blur.rules).items():
        tell(READING, "note", note.format(count))
