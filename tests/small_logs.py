"""One small true log of every format and form of it, to be damaged; each is read whole, without a reject."""

from __future__ import annotations

import bz2
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq

from tests.io.test_hadoop_jhist_binary import RECORDS, SCHEMA, binary_history, json_history
