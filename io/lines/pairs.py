"""Messages that are keys and values alone, as the audit of Linux writes them: each known key is an attribute.

    type=SYSCALL msg=audit(1781417705.120:443): success=yes auid=1000 comm="vi" key="shadow" AUID="ann"
                                                 success     auid      comm      key          auid_name

Programs of users put theirs into one value, `msg='op=login res=success'`; they are read like the others.
Keys in capitals are what a number means by name, as auditd adds it.  Of a key that comes twice the first
counts.  Keys that are not known are left in the message, so that no log makes columns without end.
"""

from __future__ import annotations

import re

import pyarrow as pa

_PAIR = re.compile(r"(?<![\w-])([A-Za-z][\w-]{0,40})=(?:\"([^\"]*)\"|([^\s'\"]+))")
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


def pairs_in(messages: pa.Array) -> dict[str, pa.Array]:
    r"""The values of known keys, by the names of their attributes; null where a message lacks the key.

    Examples
    --------
    >>> found = pairs_in(pa.array(["uid=0 UID=\"root\"", "msg='op=login uid=1000'"]))
    >>> {name: values.to_pylist() for name, values in found.items()}
    {'uid': ['0', '1000'], 'uid_name': ['root', None], 'op': [None, 'login']}
    """
    found: dict[str, list[str | None]] = {}
    for row, text in enumerate(messages.to_pylist()):
        for key, quoted, plain in _PAIR.findall(text or ""):
            if key.lower() not in _KNOWN:
                continue
            name = f"{key.lower()}_name" if key.isupper() else key.lower()
            values = found.get(name)
            if values is None:
                values = found[name] = [None] * len(messages)
            if values[row] is None:
                values[row] = quoted or plain
    return {name.replace("-", "_"): pa.array(values, pa.string()) for name, values in found.items()}
