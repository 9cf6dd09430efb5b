"""What a script got that asked gmond every 10 s, about all nodes of the story."""

from __future__ import annotations

import random
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from sample_story.story import EPOCH, IDLE_LOAD, NODES, TASKS

SAMPLE_EVERY, POLL_EVERY, POLLS = 15, 10, 20


@dataclass(frozen=True)
class Sample:
    """A value that gmond received at `arrival`, in seconds after EPOCH."""

    arrival: float
    value: str


@dataclass(frozen=True)
class Metric:
    name: str
    type: str
    units: str
    tmax: int
    slope: str
    group: str


METRICS = (
    Metric("cpu_user", "float", "%", 90, "both", "cpu"),
    Metric("load_one", "float", " ", 70, "both", "load"),
    Metric("mem_free", "float", "KB", 180, "both", "memory"),
    Metric("os_name", "string", "", 1200, "zero", "system"),
)
DOCTYPE = """<!DOCTYPE GANGLIA_XML [
   <!ELEMENT GANGLIA_XML (GRID|CLUSTER|HOST)*>
      <!ATTLIST GANGLIA_XML VERSION CDATA #REQUIRED>
      <!ATTLIST GANGLIA_XML SOURCE CDATA #REQUIRED>
   <!ELEMENT CLUSTER (HOST | HOSTS | METRICS)*>
      <!ATTLIST CLUSTER NAME CDATA #REQUIRED>
      <!ATTLIST CLUSTER LOCALTIME CDATA #REQUIRED>
   <!ELEMENT HOST (METRIC)*>
      <!ATTLIST HOST NAME CDATA #REQUIRED>
      <!ATTLIST HOST IP CDATA #REQUIRED>
      <!ATTLIST HOST REPORTED CDATA #REQUIRED>
      <!ATTLIST HOST TN CDATA #IMPLIED>
      <!ATTLIST HOST TMAX CDATA #IMPLIED>
      <!ATTLIST HOST DMAX CDATA #IMPLIED>
   <!ELEMENT METRIC (EXTRA_DATA*)>
      <!ATTLIST METRIC NAME CDATA #REQUIRED>
      <!ATTLIST METRIC VAL CDATA #REQUIRED>
      <!ATTLIST METRIC TYPE (string | int8 | uint8 | int16 | uint16 | int32 | uint32 |
                             float | double | timestamp) #REQUIRED>
      <!ATTLIST METRIC UNITS CDATA #IMPLIED>
      <!ATTLIST METRIC TN CDATA #IMPLIED>
      <!ATTLIST METRIC TMAX CDATA #IMPLIED>
      <!ATTLIST METRIC DMAX CDATA #IMPLIED>
      <!ATTLIST METRIC SLOPE (zero | positive | negative | both | unspecified) #IMPLIED>
   <!ELEMENT EXTRA_DATA (EXTRA_ELEMENT*)>
   <!ELEMENT EXTRA_ELEMENT EMPTY>
      <!ATTLIST EXTRA_ELEMENT NAME CDATA #REQUIRED>
      <!ATTLIST EXTRA_ELEMENT VAL CDATA #REQUIRED>
]>
"""


def gmond_polls(chance: random.Random) -> list[str]:
    """What gmond answered, poll by poll; a sample stays in its answers until the next one arrives."""
    samples = {node: node_samples(node, place, chance) for place, node in enumerate(NODES)}
    return [poll(3.7 + POLL_EVERY * number, samples) for number in range(POLLS)]


def node_samples(node: str, place: int, chance: random.Random) -> dict[str, list[Sample]]:
    """Samples of all metrics of a node; node04 sends on the quarter minute, the others a bit later."""
    phase = (place - NODES.index("node04")) % len(NODES) * 2.3 + 0.4
    cpu, load = [], []
    for step in range(-1, POLLS * POLL_EVERY // SAMPLE_EVERY + 1):
        arrival = phase + SAMPLE_EVERY * step
        cpu.append(Sample(arrival, f"{min(mean_load(node, arrival) + chance.random(), 100):.1f}"))
        load.append(Sample(arrival + 1, f"{mean_load(node, arrival) / 25 + 0.2 * chance.random():.2f}"))
    memory = [Sample(phase - 20 + 60 * step, f"{5e6 + 2e6 * chance.random():.0f}") for step in range(4)]
    return {"cpu_user": cpu, "load_one": load, "mem_free": memory, "os_name": [Sample(phase - 300, "Linux")]}


def mean_load(node: str, arrival: float) -> float:
    """Mean CPU of a node over the 15 s before a sample, in percent, short of 100 by a little."""
    total = 0.0
    for second in range(SAMPLE_EVERY):
        moment = arrival - second - 0.5
        running = sum(task.load for task in TASKS if task.node == node and task.start <= moment < task.finish)
        total += min(IDLE_LOAD + running, 98.8)
    return total / SAMPLE_EVERY


def poll(moment: float, samples: dict[str, dict[str, list[Sample]]]) -> str:
    hosts = "".join(host(moment, node, samples[node]) for node in NODES)
    return (
        '<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>\n'
        f'{DOCTYPE}<GANGLIA_XML VERSION="3.7.2" SOURCE="gmond">\n'
        f'<CLUSTER NAME="reports" LOCALTIME="{EPOCH + int(moment)}" OWNER="operations" LATLONG="unspecified" '
        f'URL="unspecified">\n{hosts}</CLUSTER>\n</GANGLIA_XML>\n'
    )


def host(moment: float, node: str, metrics: dict[str, list[Sample]]) -> str:
    newest = {
        name: max((sample for sample in found if sample.arrival <= moment), key=lambda sample: sample.arrival)
        for name, found in metrics.items()
    }
    heard = max(sample.arrival for sample in newest.values())
    lines = [metric(described, newest[described.name], moment) for described in METRICS]
    reported = EPOCH + int(heard // 1)
    return (
        f'<HOST NAME="{node}" IP="10.0.0.{NODES.index(node) + 1}" REPORTED="{reported}" '
        f'TN="{int(moment - heard)}" TMAX="20" DMAX="0" LOCATION="unspecified" '
        f'GMOND_STARTED="{EPOCH - 86_400}">\n'
        f"{''.join(lines)}</HOST>\n"
    )


def metric(described: Metric, sample: Sample, moment: float) -> str:
    return (
        f'<METRIC NAME="{described.name}" VAL={quoteattr(sample.value)} TYPE="{described.type}" '
        f'UNITS="{described.units}" TN="{int(moment - sample.arrival)}" TMAX="{described.tmax}" DMAX="0" '
        f'SLOPE="{described.slope}">\n<EXTRA_DATA>\n'
        f'<EXTRA_ELEMENT NAME="GROUP" VAL="{described.group}"/>\n</EXTRA_DATA>\n</METRIC>\n'
    )
