"""True files with something wrong: bytes changed, cut out, doubled, inserted, or the end missing."""

from __future__ import annotations

from hypothesis import strategies as st

NASTY = (
    *(b"\x00", b"\n", b"\r", b'"', b"'", b",", b"\t", b"\\", b"&", b"<", b">", b"]]>", b"<!--", b"{", b"["),
    *(b"-1", b"?", b"24:00", b"2016-12-31T23:59:60Z", b"99999999999999999999", b"1e999", b"NaN"),
    *(b"</event>", b"</trace>", b"&amp;", b"&#0;", b"&x;"),
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", "é".encode(), "\U0001f600".encode()),
)


@st.composite
def mutated(draw: st.DrawFn, data: bytes) -> bytes:
    """The data after one to five changes."""
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)))
        stop = min(len(data), start + draw(st.integers(0, 20)))
        change = draw(st.sampled_from(["replace", "insert", "delete", "double", "cut"]))
        bit = draw(st.sampled_from(NASTY) | st.binary(max_size=4))
        if change == "replace":
            data = data[:start] + bit + data[start + len(bit) :]
        elif change == "insert":
            data = data[:start] + bit + data[start:]
        elif change == "delete":
            data = data[:start] + data[stop:]
        elif change == "double":
            data = data[:stop] + data[start:stop] + data[stop:]
        else:
            data = data[:start] if draw(st.booleans()) else data
    return data
