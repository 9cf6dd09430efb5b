"""Templates of all files of an ingest, mined once before anything is read.

Messages of all files are counted first, each file by one task; of a large one that can be read from any
place, so many bytes as WHOLE_BYTES, in pieces from all of it.  What stands between the pieces and fits no
template found there is of the type `Other`, and counted.  What the head of a file tells, its format and how
its times are written, is kept for who reads it: of a small file that is half of the work.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from cepctl.errors import CepctlError
from cepctl.ingestion.alike_files import whole_text
from cepctl.ingestion.bundles import results_of
from cepctl.ingestion.shared_imports import import_for_children
from cepctl.ingestion.task import ReadTask
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.message_template import MessageTemplate
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.formats import OpenLog, format_named, format_of, open_log
from cepctl.io.source.head_shapes import head_shape
from cepctl.io.source.locations import FilePart
from cepctl.io.templates.survey import MOST_TEMPLATES, Survey, survey_of, templates_of
from cepctl.runners.runner import Runner

WHOLE_BYTES = 32 << 20
_PIECES = 16
_LOOKED_AT = 1 << 16


@dataclass(frozen=True)
class TemplatesFound:
    """The templates of an ingest, what is to be said of them, and what the heads of its files told."""

    templates: tuple[MessageTemplate, ...] = ()
    notices: tuple[str, ...] = ()
    heads: tuple[HeadTold, ...] = ()


@dataclass(frozen=True, slots=True)
class HeadTold:
    """What the head of a file tells: its format, None where there is none, and the forms of its times."""

    format: str | None = None
    forms: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Surveyed:
    """What the messages of a file are, where they need templates, and what its head told.

    A small file whose messages are yet to be looked at may be `alike` to its neighbours.
    """

    head: HeadTold = field(default_factory=HeadTold)
    survey: Survey | None = None
    alike: _Alike | None = None


@dataclass(frozen=True, slots=True)
class _Alike:
    """A small file of a form that its neighbours may have, too."""

    format: LogFormat
    form: Hashable
    text: bytes
    forms: Mapping[str, str]


def mine_templates(tasks: Sequence[ReadTask], runner: Runner, *, given: bool = True) -> TemplatesFound:
    """The templates of the messages in all files; those that the tasks bring come first, as they are.

    Of those that are not `given` by the user, but known from what was read before, nothing is said.
    """
    known = tasks[0].options.templates if tasks else ()
    # As when they are read, a file that kills its parser costs itself alone.
    local = all(task.file.location.is_local for task in tasks)
    if local and runner.here:
        import_for_children(tasks)
    most = min((task.memory.of_task for task in tasks), default=None)
    alike: dict[HeadTold, HeadTold] = {}
    heads: list[HeadTold] = []
    whole: Survey | None = None
    for each in results_of(runner, _surveyed_bundle, tasks, _unsurveyed if local else None, most):
        heads.append(alike.setdefault(each.head, each.head))
        if each.survey is not None:
            whole = whole or Survey()
            whole.join(each.survey)
    if whole is None:
        unused = "--templates was not used: no file has messages that are typed by templates"
        return TemplatesFound(known, (unused,) if known and given else (), tuple(heads))
    found = templates_of(whole, known)
    notices = []
    if known and given and (found.new or found.none):
        notices.append(
            f"of the messages looked at {found.known:,} fit the {len(known):,} templates given, "
            f"{found.new:,} fit {len(found.templates) - len(known):,} new ones"
        )
    if found.none:
        notices.append(
            f"messages looked at that fit none of {MOST_TEMPLATES:,} templates, the most frequent ones: "
            f"{found.none:,}; they are of the type Other; --patterns FILE types them"
        )
    return TemplatesFound(found.templates, tuple(notices), tuple(heads))


def with_templates(tasks: Sequence[ReadTask], found: TemplatesFound) -> list[ReadTask]:
    """Tasks whose readers know the templates, and what the heads of their files told."""
    return [
        replace(
            task,
            file=replace(task.file, time_forms=task.file.time_forms or head.forms),
            options=replace(task.options, templates=found.templates),
            input_format=task.input_format or head.format,
        )
        for task, head in zip(tasks, found.heads, strict=True)
    ]


def _surveyed_bundle(bundle: Sequence[ReadTask]) -> list[_Surveyed]:
    """What the messages of neighbouring files are; the first of those that are written alike has all."""
    by_shape: dict[bytes, HeadTold] | None = {} if len(bundle) > 1 else None
    looked_at = [_looked_at(task, by_shape) for task in bundle]
    found: list[_Surveyed] = []
    for _, run in groupby(looked_at, lambda each: each.alike and each.alike.form):
        files = list(run)
        alike = [each.alike for each in files if each.alike is not None]
        if alike:
            files[0] = replace(files[0], survey=_of_alike(alike, bundle[0].options))
        found += [replace(each, alike=None) for each in files]
    return found


def _of_alike(files: Sequence[_Alike], options: ReadOptions) -> Survey:
    reader = files[0].format.alike
    assert reader is not None
    return survey_of(reader.messages([each.text for each in files], files[0].forms, options))


def _looked_at(task: ReadTask, by_shape: dict[bytes, HeadTold] | None) -> _Surveyed:
    """What the messages of a file are; nothing where it cannot be read, which reading will say.

    Of several files those of one form are surveyed together, so nothing but that form is told of them; and
    what the first head of its shape told holds for all (`by_shape`).
    """
    if task.file.left_out is not None:
        return _Surveyed()
    try:
        with open_log(task.file.location) as log:
            if not log.head:
                return _Surveyed()
            text = whole_text(task, log) if by_shape is not None else None
            head, known = _head_told(task, log.head, None if text is None else by_shape)
            if known.messages is None:
                return _Surveyed(head)
            if known.alike is not None and text is not None:
                forms = dict(head.forms)
                form = known.alike.form(text, forms)
                if form is not None:
                    return _Surveyed(head, alike=_Alike(known, (known.name, form), text, forms))
            return _Surveyed(head, _survey(task, known, log))
    except (CepctlError, OSError):
        return _Surveyed()


def _head_told(
    task: ReadTask, head: bytes, by_shape: dict[bytes, HeadTold] | None
) -> tuple[HeadTold, LogFormat]:
    shape = None if by_shape is None else head_shape(head)
    of_shape = None if by_shape is None or shape is None else by_shape.get(shape)
    if of_shape is not None and of_shape.format is not None:
        return of_shape, format_named(of_shape.format)
    known = format_of(head, task.file.name, task.input_format, task.options)
    of_shape = HeadTold(known.name, () if known.messages is None else _forms(known, head, task))
    if by_shape is not None and shape is not None:
        by_shape[shape] = of_shape
    return of_shape, known


def _forms(known: LogFormat, head: bytes, task: ReadTask) -> tuple[tuple[str, str], ...]:
    records = None if known.lines is None else known.lines(head, task.options)
    return () if records is None else records.forms


def _survey(task: ReadTask, known: LogFormat, log: OpenLog) -> Survey:
    size = task.file.size
    if size is not None and size > WHOLE_BYTES and log.stream.seekable():
        return _in_pieces(task, known, size)
    return _of_piece(task, known, log, whole=True)


def _unsurveyed(task: ReadTask, cause: str) -> _Surveyed:
    """What is known of a file that killed the process which looked at it: reading it will say so."""
    return _Surveyed()


def _in_pieces(task: ReadTask, known: LogFormat, size: int) -> Survey:
    found = Survey()
    length = WHOLE_BYTES // _PIECES
    for piece in range(_PIECES):
        start = (size - length) * piece // (_PIECES - 1)
        stop = _line_end(task, start, start + length)
        with open_log(task.file.location, FilePart(start, stop)) as log:
            found.join(_of_piece(task, known, log, whole=piece == 0))
    return found


def _line_end(task: ReadTask, start: int, stop: int) -> int:
    """Where the last line ends that begins and ends in a piece; a cut one would be read by itself."""
    filesystem, path = task.file.location.resolve()
    first = max(start, stop - _LOOKED_AT)
    with filesystem.open_input_file(path) as file:
        file.seek(first)
        end = file.read(stop - first).rfind(b"\n")
    return stop if end < 0 else first + end + 1


def _of_piece(task: ReadTask, known: LogFormat, log: OpenLog, *, whole: bool) -> Survey:
    """The messages of a piece, whose first line is that of the file, or else cut."""
    if not whole:
        log.stream.readline(WHOLE_BYTES)
    found = Survey()
    if known.messages is not None:
        for batch in known.messages(log.stream, task.file.name, task.options):
            found.add(batch)
    return found
