"""Ways in which records of a unit stand among each other, by the steps at which one or two of them are taken.

A way is a path on the lattice of `units`.  Counted from the begin and from the end, cell by cell, the
paths that take a record at some step are those to the cell where it is taken times those from there on.
Between two records paths are counted anew from each cell where the first one is taken.  Each step of a path
weighs the shares of the writers that have a record there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.confidence.given.units import allowed, steps_of, sum_of
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Flags, Indexes, Reals


class Lattice(NamedTuple):
    """The lattice of some writers' `records`, whose cells are numbered as `strides` say; shape (w,) each.

    `allowed`, shape (cells,): the bit of each step that may lead to a cell.  Of each step, shape (2^w,): how
    far `back` it comes from, how many have `met` on its tick beside one, and what it weighs.  By how many
    have met paths are counted: those to a cell, `before`, and those from it, `behind`, shape (cells, places).
    `ends` says from which cells there are any.
    """

    records: Indexes
    strides: Indexes
    allowed: Indexes
    back: Indexes
    met: Indexes
    weight: Reals
    before: Reals
    behind: Reals
    ends: Flags


@inner
def lattice_of(asked, question):
    """The lattice of a question of `Interleaved`, with its paths."""
    records = asked.records[asked.offsets[question] : asked.offsets[question + 1]]
    writers, places = len(records), asked.meetings[question] + 1
    strides, cells = np.ones(writers, np.int64), 1
    for w in range(writers - 1, -1, -1):
        strides[w] = cells
        cells *= records[w] + 1
    steps = 1 << writers
    back, met, weight = steps_of(records, strides)
    may = _steps_that_may_lead(asked, question, records, cells)
    before, behind = np.zeros((cells, places)), np.zeros((cells, places))
    before[0, 0] = behind[cells - 1, 0] = 1.0
    ends = np.zeros(cells, np.bool_)
    lattice = Lattice(records, strides, may, back, met, weight, before, behind, ends)
    for cell in range(cells):
        for step in range(1, steps):
            if may[cell] >> step & 1:
                _add(lattice, step, before[cell - back[step]], before[cell])
    for cell in range(cells - 1, -1, -1):
        ends[cell] = sum_of(behind[cell]) > 0.0
        for step in range(1, steps):
            if ends[cell] and may[cell] >> step & 1:
                _add(lattice, step, behind[cell], behind[cell - back[step]])
    return lattice


@inner
def _steps_that_may_lead(asked, question, records, cells):
    """The bit of each step that may lead to a cell; shape (cells,)."""
    found, count = np.zeros(cells, np.int64), np.zeros(len(records), np.int64)
    none = np.zeros(len(records), np.int64)
    for cell in range(cells):
        for step in range(1, 1 << len(records)):
            if allowed(asked, question, step, count):
                found[cell] |= 1 << step
        _go_on(count, none, records)
    return found


@inner
def count_taken(lattice, writer, rank, paths):
    """Add paths by how many have met and by the step at which a record is taken; shape (places, steps)."""
    places = len(paths)
    first, last = _taken(lattice, writer, rank)
    count, taken = first.copy(), np.empty(places)
    while True:
        cell, steps = _cell(lattice, count), sum_of(count) - 1
        _fill_taken(lattice, cell, 1 << writer, taken)
        for d in range(places):
            if taken[d] > 0.0:
                for rest in range(places - d):
                    paths[d + rest, steps - d] += taken[d] * lattice.behind[cell, rest]
        if not _go_on(count, first, last):
            return


@inner
def count_at_once(lattice, writer, rank, other_writer, other_rank, paths):
    """Add paths by how many have met, of those that take both records at one step; shape (places,)."""
    if writer == other_writer:
        return
    places = len(paths)
    first, last = _taken(lattice, writer, rank)
    first[other_writer] = last[other_writer] = other_rank + 1
    count, taken = first.copy(), np.empty(places)
    while True:
        cell = _cell(lattice, count)
        _fill_taken(lattice, cell, 1 << writer | 1 << other_writer, taken)
        for d in range(places):
            for rest in range(places - d):
                paths[d + rest] += taken[d] * lattice.behind[cell, rest]
        if not _go_on(count, first, last):
            return


@inner
def count_apart(lattice, writer, rank, later_writer, later_rank, paths):
    """Add paths by how many have met and after how many steps a later record is taken."""
    if writer == later_writer and rank > later_rank:
        return
    places = len(paths)
    first, last = _taken(lattice, writer, rank)
    if writer != later_writer:
        last[later_writer] = later_rank
    start, taken = first.copy(), np.empty(places)
    between, reached = np.zeros(lattice.before.shape), np.zeros(len(lattice.before), np.int64)
    own = np.zeros(paths.shape)
    while True:
        cell = _cell(lattice, start)
        _fill_taken(lattice, cell, 1 << writer, taken)
        if lattice.ends[cell] and sum_of(taken) > 0.0:
            own[:] = 0.0
            _count_between(lattice, (start, cell), later_writer, later_rank, (between, reached), own)
            for d in range(places):
                if taken[d] > 0.0:
                    for rest in range(places - d):
                        for steps in range(own.shape[1]):
                            paths[d + rest, steps] += taken[d] * own[rest, steps]
        if not _go_on(start, first, last):
            return


@inner
def _count_between(lattice, start, writer, rank, room, paths):
    """Add paths from a cell to the end, by the steps after which a record is taken that is not taken there.

    `room`: which paths there are to each cell, and from which cell, as one more than its number, they come.
    """
    (begin, first_cell), (between, _) = start, room
    last = lattice.records.copy()
    last[writer] = rank
    count, here = begin.copy(), first_cell + 1
    row, is_reached = count[0], True
    while True:
        if count[0] != row:
            if not is_reached:
                return
            row, is_reached = count[0], False
        cell = _cell(lattice, count)
        if _reach(lattice, cell, cell == first_cell, here, room):
            is_reached = True
            if count[writer] == rank:
                _add_ends(lattice, count, writer, sum_of(begin), between[cell], paths)
        if not _go_on(count, begin, last):
            return


@inner
def _reach(lattice, cell, is_first, here, room):
    """Fill the paths from the first cell to another; whether there are any."""
    between, reached = room
    if not lattice.ends[cell]:
        return False
    found = is_first
    for step in range(1, len(lattice.back)):
        back = cell - lattice.back[step]
        if not is_first and lattice.allowed[cell] >> step & 1 and reached[back] == here:
            if not found:
                between[cell] = 0.0
            _add(lattice, step, between[back], between[cell])
            found = True
    if is_first:
        between[cell] = 0.0
        between[cell, 0] = 1.0
    if found:
        reached[cell] = here
    return found


@inner
def _add_ends(lattice, count, writer, begun, between, paths):
    """Add paths that take the next record of a writer behind a cell, which as many as `begun` came before."""
    cell, places = _cell(lattice, count), len(between)
    for step in range(1, len(lattice.back)):
        if step >> writer & 1 and _has_room(lattice, count, step):
            to, met = cell + lattice.back[step], lattice.met[step]
            if lattice.allowed[to] >> step & 1:
                for d in range(places - met):
                    weighed, steps = between[d] * lattice.weight[step], sum_of(count) - begun - d + 1
                    if weighed > 0.0:
                        for rest in range(places - met - d):
                            paths[d + met + rest, steps] += weighed * lattice.behind[to, rest]


@inner
def _has_room(lattice, count, step):
    """Whether all writers of a step have a record left."""
    room = True
    for w in range(len(count)):
        room &= not step >> w & 1 or count[w] < lattice.records[w]
    return room


@inner
def _fill_taken(lattice, cell, writers, taken):
    """The paths that lead to a cell by a step of these writers, and of others."""
    for d in range(len(taken)):
        taken[d] = 0.0
    for step in range(1, len(lattice.back)):
        if step & writers == writers and lattice.allowed[cell] >> step & 1:
            _add(lattice, step, lattice.before[cell - lattice.back[step]], taken)


@inner
def _add(lattice, step, source, target):
    """Add paths that go on by a step."""
    met, weight = lattice.met[step], lattice.weight[step]
    for d in range(met, len(target)):
        target[d] += weight * source[d - met]


@inner
def _taken(lattice, writer, rank):
    """The first and the last cell where a record is the last that its writer has taken."""
    first, last = np.zeros(len(lattice.records), np.int64), lattice.records.copy()
    first[writer] = last[writer] = rank + 1
    return first, last


@inner
def _cell(lattice, count):
    cell = 0
    for w in range(len(count)):
        cell += count[w] * lattice.strides[w]
    return cell


@inner
def _go_on(count, first, last):
    """Move to the next cell from the first to the last; whether there is one."""
    for w in range(len(count) - 1, -1, -1):
        count[w] += 1
        if count[w] <= last[w]:
            return True
        count[w] = first[w]
    return False
