"""The process that Spark forks its Python workers from on this machine: that of PySpark, without pandas."""

from __future__ import annotations

from cepctl.start_up import leave_pandas_out


def run() -> None:
    """Fork workers as long as Spark asks for them."""
    leave_pandas_out()
    from pyspark import daemon

    daemon.manager()


if __name__ == "__main__":
    run()
