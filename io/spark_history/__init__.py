"""Event logs of Spark, which its history server shows."""
