"""The process that Spark forks its Python workers from on this machine: that of PySpark, but without pandas.

Workers inherit rare garbage collection from it.
"""

from __future__ import annotations

from cepctl.process.start_up import collect_rarely, leave_pandas_out


def run() -> None:
    """Fork workers as long as Spark asks for them."""
    leave_pandas_out()
    collect_rarely()
    from pyspark import daemon

    daemon.manager()


if __name__ == "__main__":
    run()
