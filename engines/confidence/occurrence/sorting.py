"""Small sorts of kernels: NumPy's, compiled into each kernel that calls them, take seconds to compile."""

from __future__ import annotations

from cepctl.engines.kernels.kernel import inner


@inner
def sorted_unique(values, count):
    """Sort the first `count` values in place (heap sort), repetitions dropped; returns how many remain."""
    for start in range(count // 2 - 1, -1, -1):
        _sift(values, start, count)
    for end in range(count - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        _sift(values, 0, end)
    kept = 0
    for i in range(count):
        if kept == 0 or values[kept - 1] != values[i]:
            values[kept] = values[i]
            kept += 1
    return kept


@inner
def _sift(values, root, end):
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and values[child] < values[child + 1]:
            child += 1
        if values[root] >= values[child]:
            return
        values[root], values[child] = values[child], values[root]
        root = child


@inner
def place_in(values, wanted):
    """Where a value stands among ascending ones that hold it."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
