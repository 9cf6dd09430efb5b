"""Messages that are keys and values alone, as the audit of Linux writes them: each known key is an attribute.

    type=SYSCALL msg=audit(1781417705.120:443): success=yes auid=1000 comm="vi" key="shadow" AUID="ann"
                                                 success     auid      comm      key          auid_name

Programs of users put theirs into one value, `msg='op=login res=success'`; they are read like the others.
Keys in capitals are what a number means by name, as auditd adds it.  Of a key that comes twice the first
counts.  Keys that are not known are left in the message, so that no log makes columns without end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepctl.io.templates.variables import parts_as_column, text_of
from cepctl.numeric.arrays import Bytes, Numbers

_KNOWN = frozenset(  # The fields of records of audit that are asked for.
    """
    a0 a1 a2 a3 acct addr apparmor arch argc auid cap_fe cap_fi cap_fp cgroup class cmd comm cwd
    denied_mask dest dev egid euid exe exit family fd flags format fp fsgid fsuid gid grantors hostname id
    inode ip item items key kind laddr list lport mode name nametype new-level obj obj_gid obj_uid ocomm
    ogid old old-auid old-level old-ses op operation opid oses ouid parent path per pfs pid ppid proctitle
    profile prom qbytes range rdev reason requested_mask res result root_dir rport saddr scontext ses sgid
    sig size spid subj success suid sw syscall tclass tcontext terminal tty uid unit ver vm
    """.split()  # noqa: SIM905
)
_QUOTE, _EQUALS = ord('"'), ord("=")
_DIVIDING = np.zeros(256, np.bool_)
_DIVIDING[[*b"\t\n\v\f\r\x1c\x1d\x1e\x1f '", _QUOTE]] = True


@dataclass(frozen=True)
class _Pairs:
    """All pairs of messages: in which each stands, where its key begins, its equals sign, and its value."""

    message: Numbers
    key: Numbers
    sign: Numbers
    start: Numbers
    stop: Numbers


def pairs_in(messages: pa.Array) -> dict[str, pa.Array]:
    r"""The values of known keys, by the names of their attributes; null where a message lacks the key.

    Examples
    --------
    >>> found = pairs_in(pa.array(["uid=0 UID=\"root\"", "msg='op=login uid=1000'"]))
    >>> {name: values.to_pylist() for name, values in found.items()}
    {'uid': ['0', '1000'], 'uid_name': ['root', None], 'op': [None, 'login']}
    """
    text, offsets = text_of(messages)
    pairs = _pairs(np.frombuffer(text, np.uint8), offsets)
    bounds = np.append(np.column_stack([pairs.key, pairs.sign]).ravel(), len(text)).astype(np.int32)
    every = pa.Array.from_buffers(
        pa.binary(), len(bounds) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(text)]
    )
    keys = every.take(pa.array(np.arange(0, len(every), 2))).dictionary_encode()
    of_pair, columns = keys.indices.to_numpy(), {}
    for number, key in enumerate(keys.dictionary.to_pylist()):
        name = key.decode("ascii", "replace")
        attribute = name if name in _KNOWN else f"{name.lower()}_name"
        if name in _KNOWN or (name.isupper() and name.lower() in _KNOWN):
            own = np.flatnonzero(of_pair == number)
            own = own[np.diff(pairs.message[own], prepend=-1) > 0]
            piece = (pairs.message[own], pairs.start[own], pairs.stop[own])
            columns[attribute.replace("-", "_")] = parts_as_column(text, len(messages), [piece])
    return columns


def _pairs(signs: Bytes, offsets: Numbers) -> _Pairs:
    quotes, divisions = np.flatnonzero(signs == _QUOTE), np.flatnonzero(_DIVIDING[signs])
    sign = np.flatnonzero(signs == _EQUALS)
    message = np.searchsorted(offsets, sign, "right") - 1
    first, end = offsets[message], offsets[message + 1]
    inside = (np.searchsorted(quotes, sign) - np.searchsorted(quotes, first)) % 2 == 1
    kept = ~inside & (sign + 1 < end)
    sign, message, first, end = sign[kept], message[kept], first[kept], end[kept]
    key = np.maximum(np.append(divisions, -1)[np.searchsorted(divisions, sign) - 1] + 1, first)
    # Of several signs in one word the first ends the key: no key has one in it.
    ended = np.diff(key, prepend=-1) > 0
    sign, message, key, end = sign[ended], message[ended], key[ended], end[ended]
    quoted = signs[sign + 1] == _QUOTE
    start = sign + 1 + quoted
    stop = np.where(quoted, _next(quotes, start, len(signs)), _next(divisions, start, len(signs)))
    stop = np.minimum(stop, end)
    kept = (stop > start) & (sign > key)
    return _Pairs(message[kept], key[kept], sign[kept], start[kept], stop[kept])


def _next(places: Numbers, at: Numbers, last: int) -> Numbers:
    """The first of the places that is not before `at`, `last` where there is none."""
    return np.append(places, last)[np.searchsorted(places, at)]
