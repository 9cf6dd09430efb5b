"""Who runs tasks: this process, Spark, or another; what is computed does not know which (runner.py)."""
