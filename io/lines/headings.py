"""What stands around the time in the lines of well-known logs: a catalogue of headings, special ones first.

A heading is what may stand before the time, and what stands between it and the message, as regular
expressions whose named groups are attributes of every event of the log.  The first that fits nine of ten of
the timed lines is that of a file, else the one that fits most; the last fits any line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_LEVELS = (
    "TRACE|DEBUG|INFO|INFORMATION|NOTICE|WARN|WARNING|ERROR|ERR|SEVERE|CRITICAL|CRIT|ALERT|EMERG|FATAL|PANIC|"
    "FINE|FINER|FINEST|CONFIG|LOG|HINT|STATEMENT|DETAIL"
)
_ANY_LEVEL = rf"(?P<level>{_LEVELS}|{_LEVELS.lower()}|{'|'.join(map(str.capitalize, _LEVELS.split('|')))})"
_LOGGER = r"(?P<component>[^\s:\[\]()]+)"
_PID = r"(?P<pid>\d+)"
UPTIME = "seconds since the beginning"
"""The layout of times that count from when the program began."""


@dataclass(frozen=True)
class Heading:
    """What stands around the time.

    Attributes
    ----------
    name
        Of what log it is.
    before, behind
        Before the time, from the beginning of the line on; between the time and the message.
    type_group
        The group that names the type of the event, where the log names it itself.
    ending
        What stands at the end of the first line of a message and is none of it, with groups, too.
    stamp
        The beginning of the names of layouts that the time has there; empty for any.
    pairs
        Whether messages are keys and values alone, which are attributes: no templates are mined from them.
    """

    name: str
    before: str
    behind: str
    type_group: str | None = None
    stamp: str = ""
    ending: str | None = None
    pairs: bool = False

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """Names of the groups, in their order."""
        return tuple(dict.fromkeys(re.findall(r"\?P<(\w+)>", self.before + self.behind)))


HEADINGS: tuple[Heading, ...] = (
    Heading(
        "fields divided by two colons",
        r"(?P<thread>[^\s:][^:]*)::(?P<level>[A-Z]+)::",
        r"::(?P<component>[^:]*)::(?P<line>\d+)::(?P<logger>[^:]*)::(?:\((?P<function>\w+)\) )?",
    ),
    Heading("strace of processes", r"(?:\[pid +)?(?P<pid>\d{1,10})\]? +", " ", stamp="hh:mm:ss"),
    Heading("history of zsh", ": ", r":(?P<seconds>\d+);", stamp="seconds"),
    Heading(
        "logcat of Android",
        "",
        rf" +{_PID} +(?P<thread>\d+) (?P<level>[VDIWEFA]) (?P<component>[^:\n]*?) *: ?",
        stamp="MM-DD",
    ),
    Heading("klog", r"(?P<level>[IWEF])", r" +(?P<thread>\d+) (?P<component>[\w./-]+):(?P<line>\d+)\] ?"),
    Heading(
        "audit of Linux",
        r"(?:node=(?P<node>\S+) )?type=(?P<record_type>[\w\[\]]+) msg=audit\(",
        r":(?P<serial>\d+)\): ?",
        "record_type",
        pairs=True,
    ),
    Heading(
        "BlueGene",
        r"(?P<label>\S+) \d{10} [\d.]{10} (?P<node>\S+) ",
        r" \S+ (?P<facility>\S+) (?P<component>\S+) (?P<level>[A-Z]+) ?",
        stamp="YYYY-MM-DD-hh.mm.ss",
    ),
    Heading(
        "cluster, as BlueGene and Thunderbird are published",
        r"(?P<label>\S+) ",
        r" \d{4}\.\d\d\.\d\d (?P<node>\S+) [A-Z][a-z][a-z] +\d+ \d\d:\d\d:\d\d (?P<location>\S+) "
        rf"(?:(?P<program>[^\s\[:]+)(?:\[{_PID}\])?: )?",
        stamp="seconds",
    ),
    Heading(
        "cluster with state changes",
        r"(?P<record_id>\d+) (?P<node>\S+) (?P<component>\S+) (?P<state>\S+) ",
        r" (?P<flag>\d+) ",
        stamp="seconds",
    ),
    Heading(
        "OpenStack",
        r"(?:(?P<log>\S+) )?",
        rf" {_PID} (?P<level>[A-Z]+) (?P<component>\S+) \[(?P<request>[^\]]*)\] ",
    ),
    Heading(
        "log4j, with thread, class and line",
        "",
        r" +- (?P<level>[A-Z]+) +\[(?P<thread>.*):(?P<component>[\w.$]+)@(?P<line>\d+)\] - ?",
    ),
    Heading("log4j with a thread", "", rf" +{_ANY_LEVEL} +\[(?P<thread>[^\]]*)\] +{_LOGGER}(?:: | - )"),
    Heading(
        "Spring Boot",
        "",
        rf" +(?P<level>[A-Z]+) +{_PID} --- +\[(?P<thread>[^\]]*)\] +(?P<component>\S+) *: ",
    ),
    Heading("logback", "", rf" +\[(?P<thread>[^\]]*)\] +{_ANY_LEVEL} +{_LOGGER} +- "),
    Heading("log4j of Kafka", r"\[", rf"\] +{_ANY_LEVEL} +", ending=r" \((?P<component>[\w.$]+)\)$"),
    Heading("log4j with a number", "", rf" +(?P<thread>\d+) +{_ANY_LEVEL} +{_LOGGER}: ?"),
    Heading("log4j", "", rf" +{_ANY_LEVEL} +{_LOGGER}: ?"),
    Heading("logging of Python", "", rf" +- (?P<component>[\w.]+) - {_ANY_LEVEL} - "),
    Heading(
        "error log of Apache",
        r"\[",
        rf"\] \[(?:(?P<component>[\w-]+):)?(?P<level>[a-z]+\d?)\]"
        rf"(?: \[pid {_PID}(?::tid (?P<thread>\d+))?\])?(?: \[client (?P<client>[^\]\s]+)\])? ",
    ),
    Heading(
        "error log of nginx",
        "",
        rf" \[(?P<level>[a-z]+)\] {_PID}#(?P<thread>\d+): (?:\*(?P<connection>\d+) )?",
    ),
    Heading("PostgreSQL", "", rf"(?: [A-Z]{{3,4}})? \[{_PID}\](?: \S+)? {_ANY_LEVEL}: +"),
    Heading("fields divided by bars", "", rf" ?\| ?(?P<component>[^|\s]*) ?\| ?{_PID} ?\| ?"),
    Heading("servicing of Windows", "", r", (?P<level>[A-Z][a-z]+) +(?P<component>[A-Z]{2,}) +"),
    Heading("Proxifier", r"\[", r"\] (?P<program>\S+(?: \*64)?) - "),
    Heading("garbage collector of Java", "", r": (?P<uptime>\d+[.,]\d+): "),
    Heading(
        "unified log of Java",
        r"\[",
        r"\](?:\[(?P<uptime>[\d.,]+)m?s\])?(?:\[\d+\])*\[(?P<level>[a-z]+) *\]\[(?P<component>[\w,+]+) *\] ",
    ),
    # As Kafka has its garbage collector logged: the time and the tags, no level.
    Heading(
        "unified log of Java, with tags alone", r"\[", r"\]\[(?P<component>(?:gc|safepoint)[\w,+]*) *\] "
    ),
    Heading("garbage collector of Java, without dates", "", r": ", stamp=UPTIME),
    Heading(
        "unified log of Java, without dates",
        r"\[",
        r"s\](?:\[\d+\])*\[(?P<level>[a-z]+) *\]\[(?P<component>[\w,+]+) *\] ",
        stamp=UPTIME,
    ),
    Heading("kernel of Linux", r"\[ *", r"\] (?:(?P<component>[\w./-]+(?: [\w.:-]+)?): )?", stamp=UPTIME),
    Heading(
        "syslog",
        r"(?:<\d{1,3}>)?",
        rf" (?P<node>\S+) (?P<program>[^\s\[:]+)(?:\[{_PID}\])?(?: \([^()\s]*\))?: ",
    ),
    Heading(
        "a level",
        r"[\[(]?",
        rf"[\])]?(?: -)?[:,]? +[\[(]?{_ANY_LEVEL}[\])]?[:,]? +(?:\[(?P<thread>[^\]\s]*)\] +)?(?:- )?",
    ),
    Heading("a level before the time", rf"[\[(]?{_ANY_LEVEL}[\])]?[:,]? *[\[(]?", r"[\])]?(?: -|[:,])? +"),
)
ANY = Heading("a time", "", r"(?:[\])>}|,:;]*(?: - |\s+|$))?")
"""What stands behind a time in any other log; what stands before it is learned from the file."""
