"""One spelling for host names, whichever log they come from.

    in the log                                   node
    n7, /default-rack/n7, n7:50010, [::1]:80     n7, n7, n7, ::1
    tracker_n7:localhost/127.0.0.1:41234         n7
    n7.example.com (with drop_domain)            n7

Letters keep their case: a plain event file beside the log may use the same names.
"""

from __future__ import annotations

import ipaddress

import pyarrow as pa

_UNKNOWN = frozenset({"", "?", "-", "null", "N/A"})
_TRACKER = "tracker_"


def node_name(raw: str | None, drop_domain: bool = False) -> str | None:
    """The host that `raw` names, without rack, port or task tracker prefix; null when it names none.

    `raw`: the host as a log writes it.  `drop_domain`: keep only the first label; addresses stay whole.

    Examples
    --------
    >>> node_name("/rack3/n7.example.com"), node_name("tracker_n7:localhost/127.0.0.1:41234")
    ('n7.example.com', 'n7')
    >>> node_name("n7.example.com:50010", drop_domain=True), node_name("10.0.0.7:80", drop_domain=True)
    ('n7', '10.0.0.7')
    """
    if raw is None:
        return None
    text = raw.strip()
    if text.startswith(_TRACKER) and ":" in text:
        text = text.removeprefix(_TRACKER).partition(":")[0]
    name = _without_port(text.rpartition("/")[2]).rstrip(".")
    if name in _UNKNOWN:
        return None
    return name.partition(".")[0] if drop_domain and not _is_address(name) else name


def node_names(raw: pa.Array, drop_domain: bool = False) -> pa.Array:
    """As `node_name`, for a column of text: each host that differs is looked at once."""
    hosts = raw.dictionary_encode()
    names = [node_name(each, drop_domain) for each in hosts.dictionary.to_pylist()]
    return pa.array(names, pa.string()).take(hosts.indices)


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    host, colon, port = text.rpartition(":")
    # More than one colon without brackets is an IPv6 address: its last group is not a port.
    return host if colon and ":" not in host and port.isdigit() else text


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
