"""Plain files with columns: CSV and its kin, JSON lines, Parquet."""
