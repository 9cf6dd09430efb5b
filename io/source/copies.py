"""A copy of a stream that has to be read more than once; on disk where it is large."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO

IN_MEMORY_BYTES = 1 << 26


@contextmanager
def copy_of(chunks: Iterable[bytes]) -> Iterator[IO[bytes]]:
    """A copy of all chunks, which stands at its start."""
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as copy:
        for chunk in chunks:  # writelines would hold all of them in memory
            copy.write(chunk)
        copy.seek(0)
        yield copy
