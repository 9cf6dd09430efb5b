"""A DataFrame of Spark as a Parquet file or folder that the readers find."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.notices import READING
from cepctl.spark.jobs import failures_told
from cepctl.spark.settings import is_local

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def write_frame(frame: DataFrame, place: Path) -> None:
    """Write the rows of a frame below a temporary folder of this machine.

    Where Spark runs on this machine, its tasks write them, a file each.  Tasks on other machines do not reach
    the folder: then the rows come to this process as Arrow batches, and have to fit in its memory.

    Raises
    ------
    JobError
        If the Spark job fails.
    """
    import pyarrow.parquet as pq

    with failures_told():
        if _is_on_this_machine(frame):
            frame.write.parquet(place.as_uri())
            return
        logging.getLogger(READING).info("the DataFrame of Spark is collected: its tasks run elsewhere")
        pq.write_table(frame.toArrow(), place)


def _is_on_this_machine(frame: DataFrame) -> bool:
    """Whether tasks see the files of this process; a session of Spark Connect does not say."""
    context = getattr(frame.sparkSession, "_sc", None)
    return context is not None and is_local(str(context.master))
