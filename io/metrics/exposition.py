r"""Prometheus' and OpenMetrics' text of metrics, where its samples have times: one event per sample.

    http_requests_total{method="post",code="200"} 1027 1395066363000      Prometheus: milliseconds
    http_requests_total{method="post",code="200"} 1027 1395066363.250     OpenMetrics: seconds

The type is the name of the metric, its labels are attributes, and so is `value`.  Lines with # are passed
over.  What an exporter shows has no times, and is refused with a remedy; one line among others without a time
is a reject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_format import WRITTEN, LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.contract.times import LAST_SECOND, LogTime
from cepctl.io.source.event_lines import LineBatches, LineEvent
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, Chunks, numbered_lines
from cepctl.io.source.text_encoding import decoded, utf8_stream

VALUE = "value"
NOT_A_SAMPLE = 'not a sample of Prometheus: NAME{LABEL="..."} VALUE TIME'
UNTIMED = "no time: the sample has none"
_NUMBER = r"[-+]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][-+]?[0-9]{1,4})?|[-+]?Inf|NaN"
_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\.)*"'
_SAMPLE = re.compile(
    rf"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{{(?P<labels>(?:{_LABEL}(?:, ?{_LABEL})*,?)?)\}})?"
    rf"[ \t]+(?P<value>{_NUMBER})(?:[ \t]+(?P<time>-?[0-9]{{1,18}}(?:\.[0-9]{{1,9}})?))?(?:[ \t]+# \{{.*)?",
    re.ASCII | re.DOTALL | re.IGNORECASE,
)
_ONE_LABEL = re.compile(r'(?:\A|,) ?([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_COMMENT = re.compile(r"# (?:HELP|TYPE|UNIT) [a-zA-Z_:]|# EOF\Z")
_LINES_LOOKED_AT = 400
_SECOND, _NANO_DIGITS = 1_000_000, 9
_DIGITS_OF_SECONDS = 11


class Exposition:
    """Reader of samples of Prometheus."""

    def recognises(self, head: bytes) -> bool:
        """Tell by lines that say a metric's type, and samples; or by samples with labels alone."""
        text = decoded(head)
        whole = text.rpartition("\n")[0] or text
        lines = [line.strip() for line in whole.split("\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]]
        lines = [line for line in lines if line]
        said = [line for line in lines if _COMMENT.match(line)]
        samples = [found for line in lines if line[0] != "#" and (found := _SAMPLE.fullmatch(line))]
        others = sum(line[0] != "#" for line in lines) - len(samples)
        labelled = sum(found["labels"] is not None for found in samples)
        return len(samples) > 4 * others and bool(said or 2 * labelled > len(samples))

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the samples of one text.

        Raises
        ------
        LogFormatError
            If no sample has a time.
        """
        batches = LineBatches(source, options, report, text_columns=frozenset(), inferring=True)
        chunks = Chunks(utf8_stream(stream))
        timed = untimed = 0
        for number, raw in numbered_lines(chunks):
            line = batches.text_of(raw[: LONGEST_LINE + 1]).strip()
            if not line.strip("\0") or line[0] == "#":
                continue
            event: LineEvent | str = TOO_LONG if len(raw) > LONGEST_LINE else _event(line)
            timed += isinstance(event, LineEvent)
            untimed += event == UNTIMED
            batches.add(number, event, raw)
            if batches.full:
                yield batches.take()
        if untimed and not timed:
            raise LogFormatError(
                f"{source}: these are metrics of Prometheus without times, as an exporter shows them at one "
                "moment; what the page /federate of a Prometheus server prints has times, and is read"
            )
        if len(batches):
            yield batches.take()
        chunks.tell_damage(source, report)


def _event(line: str) -> LineEvent | str:
    found = _SAMPLE.fullmatch(line)
    if found is None:
        return NOT_A_SAMPLE
    if found["time"] is None:
        return UNTIMED
    time, precision = _instant(found["time"])
    attributes: dict[str, Value] = {
        label[1]: _ESCAPE.sub(lambda sign: "\n" if sign[1] == "n" else sign[1], label[2])
        for label in _ONE_LABEL.finditer(found["labels"] or "")
    }
    attributes[VALUE if VALUE not in attributes else f"{VALUE}_2"] = float(found["value"])
    return LineEvent(found["name"], time, precision, attributes)


def _instant(text: str) -> tuple[LogTime | None, int]:
    """The instant and microseconds of its last digit: with a fraction or few digits it is of seconds.

    Examples
    --------
    >>> [_instant(text)[0].micros for text in ("1395066363000", "1395066363", "1395066363.000001")]
    [1395066363000000, 1395066363000000, 1395066363000001]
    """
    whole, point, fraction = text.partition(".")
    if point or len(whole.lstrip("-")) < _DIGITS_OF_SECONDS:
        nanos = int(whole) * 10**_NANO_DIGITS + int(fraction.ljust(_NANO_DIGITS, "0")) * (
            -1 if "-" in text else 1
        )
        precision = 10 ** max(6 - len(fraction), 0)
    else:
        nanos, precision = int(whole) * 1_000_000, 1_000
    micros, rest = divmod(nanos, 1_000)
    known = 0 < micros < LAST_SECOND * _SECOND
    return (LogTime(micros, 0, nanos=rest) if known else None), precision


FORMAT = LogFormat(
    name="prometheus",
    description="text of metrics of Prometheus or OpenMetrics, where its samples have times",
    events="one type per metric; value, labels",
    uncertainty="as written: 1 ms, or 1 s",
    example=(
        "# TYPE http_requests_total counter\n"
        'http_requests_total{method="post",code="200"} 1027 1781417704250\n'
    ),
    page="logs-metrics.md",
    kinds=("Prometheus",),
    reader=Exposition(),
    options={"exact_times": WRITTEN},
)
