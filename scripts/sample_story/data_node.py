"""The log of the data node on node05, whose disk fills up: log4j as a daemon writes it, in local time.

Blocks come and go; shortly before the attempt on node05 fails, writing does, with a stack trace.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone

from sample_story.story import EPOCH

NODE = "node05"
FILE = f"hadoop-hdfs-datanode-{NODE}.log"
BERLIN = timezone(timedelta(hours=1))
BLOCK_EVERY, SECONDS, BLOCK_BYTES = 4.1, 180, 134_217_728
DISK_FULL = (22.118, 23.104, 23.471)
FIRST_BLOCK = 1_073_742_001
POOL = "BP-1873221402-10.0.0.1-1771909204117"
LAST = "type=LAST_IN_PIPELINE"
PACKAGE = "org.apache.hadoop.hdfs.server.datanode"
TRACE = (
    "java.io.IOException: No space left on device\n"
    "\tat java.base/sun.nio.ch.FileDispatcherImpl.write0(Native Method)\n"
    f"\tat {PACKAGE}.BlockReceiver.receivePacket(BlockReceiver.java:689)\n"
    f"\tat {PACKAGE}.BlockReceiver.receiveBlock(BlockReceiver.java:1010)\n"
    f"\tat {PACKAGE}.DataXceiver.writeBlock(DataXceiver.java:903)\n"
    "\tat java.base/java.lang.Thread.run(Thread.java:840)"
)


def data_node_log(chance: random.Random) -> str:
    """All records in the order of their times."""
    records = [
        record(
            0.218,
            "INFO",
            "DataNode",
            "Successfully sent block report 0x5f1c2a, containing 1 storage report(s)",
        )
    ]
    count = int(SECONDS / BLOCK_EVERY)
    for number in range(count):
        records += block(number, 1.5 + BLOCK_EVERY * number + chance.random(), chance)
    for number, moment in enumerate(DISK_FULL):
        records.append(disk_full(moment, number))
    return "".join(line + "\n" for _, line in sorted(records))


def record(moment: float, level: str, logger: str, message: str) -> tuple[float, str]:
    """One record with its time, which the log writes in local time to the millisecond."""
    time = datetime.fromtimestamp(EPOCH, BERLIN) + timedelta(milliseconds=round(moment * 1000))
    written = time.strftime("%Y-%m-%d %H:%M:%S") + f",{time.microsecond // 1000:03d}"
    return moment, f"{written} {level} {PACKAGE}.{logger}: {message}"


def block(number: int, moment: float, chance: random.Random) -> list[tuple[float, str]]:
    """One block written from another node and, every third time, read by a third one."""
    name = f"{POOL}:blk_{FIRST_BLOCK + number}_{1177 + number}"
    writer, reader = (f"10.0.0.{1 + (number * step) % 4}" for step in (1, 3))
    ports = f"src: /{writer}:{41_022 + number} dest: /10.0.0.5:9866"
    size = BLOCK_BYTES if number % 4 else 1_048_576 + int(9_000_000 * chance.random())
    taken = 0.4 + 1.9 * chance.random()
    lines = [
        record(moment, "INFO", "DataNode", f"Receiving {name} {ports}"),
        record(moment + taken, "INFO", "DataNode", f"Received {name} {ports} of size {size}"),
        record(moment + taken + 0.001, "INFO", "DataNode", f"PacketResponder: {name}, {LAST} terminating"),
    ]
    if number % 3 == 0:
        duration = int(4e8 + 3e8 * chance.random())
        message = (
            f"src: /10.0.0.5:9866, dest: /{reader}:{52_114 + number}, bytes: {size}, op: HDFS_READ, "
            f"cliID: DFSClient_NONMAPREDUCE_{81_220 + number}_1, offset: 0, srvID: d5b1c0de, "
            f"blockid: {name}, duration: {duration}"
        )
        lines.append(record(moment + taken + 1.2, "INFO", "DataNode.clienttrace", message))
    return lines


def disk_full(moment: float, number: int) -> tuple[float, str]:
    """A block that could not be written."""
    source = f"src: /10.0.0.5:{43_107 + number} dst: /10.0.0.5:9866"
    message = f"{NODE}:9866:DataXceiver error processing WRITE_BLOCK operation  {source}\n{TRACE}"
    return record(moment, "ERROR", "DataNode", message)
