"""Hadoop's job histories, Rumen traces and simulator workloads; log lines of its daemons are in `log4j`."""
