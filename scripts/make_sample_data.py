#!/usr/bin/env python3
"""Writes the sample logs: three minutes of a small cluster, with one task that maxed out a node.

    logs/job_..._0042.jhist                         a MapReduce job of 16 maps and 3 reduces on six nodes
    logs/gmond-1.xml, gmond-2.xml                   what a script got that asked gmond every 10 s
    logs/tickets.xes                                what the operators did about it
    daemon_logs/hadoop-hdfs-datanode-node05.log     a data node whose disk fills up

The story is told in sample_story/story.py.  The bytes are the same on every machine and Python: only
random.Random.random is used, whose sequence for a seed is guaranteed.

Usage: make_sample_data.py [FOLDER]
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
if str(SCRIPTS) not in sys.path:
    sys.path.insert(0, str(SCRIPTS))

from sample_story import data_node, gmond, job_history, tickets  # noqa: E402 - found beside this script
from sample_story.story import JOB  # noqa: E402

SEED = 20100915


def main(folder: Path) -> None:
    """Write all files of the story into the folders `logs` and `daemon_logs` of `folder`."""
    chance = random.Random(SEED)
    files = {f"logs/{JOB}.jhist": job_history.job_history(chance), "logs/tickets.xes": tickets.tickets()}
    polls = gmond.gmond_polls(chance)
    half = len(polls) // 2
    files["logs/gmond-1.xml"], files["logs/gmond-2.xml"] = "".join(polls[:half]), "".join(polls[half:])
    files[f"daemon_logs/{data_node.FILE}"] = data_node.data_node_log(chance)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("latin-1" if name.endswith(".xml") else "utf-8"))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else SCRIPTS.parent / "sample_data")
