"""What the operators did about the busy node: their tickets in XES."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from sample_story.story import EPOCH

STEPS = {
    "alert": (("Alert raised", 0, "monitor"),),
    "opened": (("Alert raised", 0, "monitor"), ("Ticket opened", 2, "Bo")),
    "solved": (
        ("Alert raised", 0, "monitor"), ("Ticket opened", 3, "Bo"), ("Node inspected", 9, "Cleo"),
        ("Owner informed", 21, "Bo"), ("Ticket closed", 64, "Cleo"),
    ),
    "false alarm": (("Alert raised", 0, "monitor"), ("Ticket opened", 4, "Ida"), ("Ticket closed", 6, "Ida")),
    "reopened": (
        ("Alert raised", 0, "monitor"), ("Ticket opened", 5, "Ida"), ("Node inspected", 12, "Cleo"),
        ("Ticket closed", 30, "Ida"), ("Ticket reopened", 95, "Bo"), ("Node drained", 103, "Cleo"),
        ("Owner informed", 110, "Bo"), ("Ticket closed", 240, "Cleo"),
    ),
}  # fmt: skip
CASES = (
    ("T-311", "solved", "node04", -1490), ("T-312", "false alarm", "node02", -1302),
    ("T-313", "false alarm", "node06", -640), ("T-314", "solved", "node02", -71),
    ("T-315", "reopened", "node04", 3), ("T-316", "opened", "node05", 41),
    ("T-317", "alert", "node02", 44),
)  # fmt: skip


def tickets() -> str:
    """The operators' tickets, one case each; they write their times in local time, to the minute."""
    traces = "".join(ticket(*case) for case in CASES)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<log xes.version="1849-2016" xes.features="" xmlns="http://www.xes-standard.org/">\n'
        '\t<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>\n'
        '\t<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>\n'
        '\t<extension name="Organizational" prefix="org" uri="http://www.xes-standard.org/org.xesext"/>\n'
        f'\t<classifier name="Activity" keys="concept:name"/>\n{traces}</log>\n'
    )


def ticket(case: str, course: str, node: str, raised: int) -> str:
    berlin = timezone(timedelta(hours=1))
    lines = [
        f'\t<trace>\n\t\t<string key="concept:name" value="{case}"/>\n'
        f'\t\t<string key="node" value="{node}"/>\n'
    ]
    for activity, minutes, resource in STEPS[course]:
        moment = datetime.fromtimestamp(EPOCH, berlin) + timedelta(minutes=raised + minutes)
        written = moment.isoformat(timespec="milliseconds")
        lines.append(
            f'\t\t<event>\n\t\t\t<string key="concept:name" value="{activity}"/>\n'
            f'\t\t\t<string key="org:resource" value="{resource}"/>\n'
            f'\t\t\t<date key="time:timestamp" value="{written}"/>\n\t\t</event>\n'
        )
    return "".join([*lines, "\t</trace>\n"])
