"""Random XES documents: everything that the standard allows, and what real logs do beside it."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from hypothesis import strategies as st

TRACE = """<trace>
<string key="concept:name" value="c1"/>
<event><string key="concept:name" value="A"/><date key="time:timestamp" value="2015-10-25T02:30:00"/>
<string key="lifecycle:transition" value="start"/><int key="n" value="99999999999999999999"/></event>
<event><string key="concept:name" value="A"/><date key="time:timestamp" value="2015/10/26 24:00"/>
<string key="lifecycle:transition" value="complete"/><boolean key="b" value="true"/></event>
<event><string key="concept:name" value="B"/><date key="time:timestamp" value="2015-10-27T00:00:00+0200"/>
<date key="start_timestamp" value="2015-10-25T02:30:00"/>
<list key="l"><values><float key="x" value="1.5"/></values></list>
<container key="c"><id key="y" value="&lt;"/></container></event>
</trace>
"""
LOG = f"""<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xmlns="http://www.xes-standard.org/">
<global scope="event"><string key="concept:name" value="name"/></global>
{TRACE}{TRACE.replace("c1", "c2")}</log>
""".encode()

ENCODINGS = ("UTF-8", "ISO-8859-1", "US-ASCII", "UTF-16")
KEYS = st.sampled_from(["concept:name", "time:timestamp", "n", "org:resource", "case_id", "ö", "a b"])
TIMES = st.sampled_from(
    [
        *("2015-10-25T02:30:00", "2015-10-25T02:30:00.123456789+01:00", "2015-10-25", "?", ""),
        *("2015/10/26 24:00", "2015-10-27T00:00:00+0200", "2016-12-31T23:59:60Z", "2015-02-30T00:00:00Z"),
    ]
)
ACTIVITIES = st.sampled_from(["A", "B", "", "é&<\"'\n\t"])
VALUES = st.sampled_from(
    ["1", "-2.5", "x", "TRUE", "", "é\u0085€", "1_0", "9" * 30, "a\nb\r\tc", "]]>"]
) | st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff"),
    max_size=5,
)
BETWEEN = st.sampled_from(
    ["", "", "", "\n", "\r\n", " <!-- <event> -->", "<![CDATA[<trace>]]>", "text &amp; &#233;", "\n\n"]
)


def _tag(kind: str, key: str | None, value: str | None, inside: str = "", *, turned: bool = False) -> str:
    pairs = [
        f"{name}={quoteattr(text)}" for name, text in (("key", key), ("value", value)) if text is not None
    ]
    start = " ".join([kind, *(reversed(pairs) if turned else pairs)])
    return f"<{start}>{inside}</{kind}>" if inside else f"<{start}/>"


@st.composite
def attributes(draw: st.DrawFn, depth: int = 2) -> str:
    """An attribute of any kind, often a plain one, sometimes without its key or value."""
    kind = draw(
        st.sampled_from(["string", "int", "float", "boolean", "id", "date", "list", "container", "odd"])
    )
    key, value = draw(KEYS | st.none()), draw(VALUES | st.none())
    inside = ""
    if depth and draw(st.integers(0, 3)) == 0:
        below = "".join(draw(st.lists(attributes(depth - 1), max_size=2)))
        inside = draw(BETWEEN) + (f"<values>{below}</values>" if draw(st.booleans()) else below)
    return _tag(kind, key, value, inside, turned=draw(st.booleans()))


@st.composite
def events(draw: st.DrawFn) -> str:
    parts = [
        _tag("string", "concept:name", draw(ACTIVITIES)),
        _tag("date", "time:timestamp", draw(TIMES)),
        _tag("string", "lifecycle:transition", draw(st.sampled_from(["start", "COMPLETE", "?"]))),
        *draw(st.lists(attributes(), max_size=3)),
    ]
    shown = [part + draw(BETWEEN) for part in parts if draw(st.integers(0, 9))]
    return f"<event>{draw(BETWEEN)}{''.join(shown)}</event>"


@st.composite
def traces(draw: st.DrawFn) -> str:
    case = [_tag("string", "concept:name", draw(VALUES))] if draw(st.booleans()) else []
    case += draw(st.lists(attributes(), max_size=2))
    parts = [*case, *draw(st.lists(events(), max_size=4))]
    if draw(st.integers(0, 9)) == 0:
        parts = draw(st.permutations(parts))
    return f"<trace>{''.join(part + draw(BETWEEN) for part in parts)}</trace>"


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """A well-formed log in any encoding, with or without a declaration, a namespace and a byte order mark."""
    encoding = draw(st.sampled_from(ENCODINGS))
    namespace = draw(st.sampled_from(["", ' xmlns="http://www.xes-standard.org/"', ' xes.version="1.0"']))
    head = [
        '<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>',
        '<global scope="event"><string key="concept:name" value="name"/></global>',
        '<classifier name="Activity" keys="concept:name"/>',
        *draw(st.lists(attributes(), max_size=1)),
    ]
    parts = [part for part in head if draw(st.booleans())]
    parts += draw(st.lists(traces() | traces() | events(), max_size=3))
    inside = "".join(part + draw(BETWEEN) for part in parts)
    declaration = (
        f'<?xml version="1.0" encoding="{encoding}"?>' if encoding != "UTF-8" or draw(st.booleans()) else ""
    )
    text = f"{declaration}{draw(st.sampled_from(['', chr(10)]))}<log{namespace}>{inside}</log>"
    mark = b"\xef\xbb\xbf" if encoding == "UTF-8" and draw(st.booleans()) else b""
    return mark + text.encode(encoding, "xmlcharrefreplace")
