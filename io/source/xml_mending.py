"""Damaged XML made whole again, record by record, so that damage inside of one record costs that one alone.

A parser that recovers goes on where it can, and takes what it skips along without a word.  So the document
comes here first.  While it is well-formed, which expat tells, it passes as it is.  From the last record
before the first damage on it is cut at the tags of its records, which are derived from its bytes:

    between two tags                        what becomes of it
    a record that is well-formed            passes as it is
    one with bare `&` or bytes of Latin-1   passes with these mended
    any other damaged record                lost, or what libxml2 recovers of it, as its shape says
    the end of a record that never began    lost, with what stands before it
    the beginning of one that never ends    lost
    an element around records that is open  closed where one of its kind begins
    anything else that is damaged           lost

What passes is well-formed, but for ends that the document does not have, and on its lines.  Every record
that is lost is told, with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from cepctl.io.source.xml_pieces import gently_mended, is_prolog, is_whole, recovered

LOST = "damaged XML, in which a record is lost"
_ENCODINGS = frozenset({"utf-8", "iso-8859-1", "us-ascii"})
_UTF16 = (b"\xfe\xff", b"\xff\xfe", b"\0<", b"<\0")
_BLANK = b" \t\r\n"
_SHOWN_BYTES = 1 << 10
# What is held back for the next record; beyond that, what comes is a matter of size, not of damage.
_MOST_BYTES = 32 << 20
# The same behind damage.
_LONGEST_RECORD = 4 << 20
_LONGEST_COMMENT = 1 << 16
_PARTS = re.compile(rb"(?=<)|(?<=>)")
_MOST_PARTS = 200


@dataclass(frozen=True)
class DocumentShape:
    """The elements of a kind of documents, by their names without a namespace.

    Attributes
    ----------
    around
        Those around records, with their levels from the outermost (0) on; none stands inside of another of
        its level, unless it is in `nests`.
    records
        Those that are records.
    inner
        Those around records whose names occur inside of records, too.
    placeholder
        What stands in for a record that is lost, where the place of records matters; its reader tells of it.
    recovers
        Whether what libxml2 makes of a damaged record is one.
    """

    around: Mapping[str, int]
    records: frozenset[str]
    nests: frozenset[str] = frozenset()
    inner: frozenset[str] = frozenset()
    placeholder: bytes = b""
    recovers: bool = False

    def tags(self) -> re.Pattern[bytes]:
        names = b"|".join(re.escape(name.encode()) for name in sorted([*self.around, *self.records]))
        inside = rb"(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*"
        return re.compile(rb"<!(?:--|\[CDATA\[)|<(/?)((?:[\w.-]+:)?)(%s)(?=[\s/>])%s>" % (names, inside))

    def begins(self) -> re.Pattern[bytes]:
        """What looks like the beginning of a record."""
        names = b"|".join(re.escape(name.encode()) for name in sorted(self.records))
        return re.compile(rb"<(?:[\w.-]+:)?(?:%s)\b" % names)

    def signs(self) -> re.Pattern[bytes]:
        """What looks like the beginning of a record, however damaged; or like its end alone."""
        names = b"|".join(re.escape(name.encode()) for name in sorted(self.records))
        begin = self.begins().pattern
        return re.compile(rb"%s|(?s:\A(?!.*%s).*?</(?:[\w.-]+:)?(?:%s)\b)" % (begin, begin, names))


@dataclass(frozen=True)
class Lost:
    """Records that are lost: about how many, on which line of the document they begin, and their bytes."""

    line: int
    records: int
    raw: bytes


@dataclass
class Mending:
    """One document while it comes in.

    Attributes
    ----------
    lost
        Is told of every record that is lost.
    damage
        The line of the first fault and what it is; None while the document is well-formed.
    lost_records
        How many records it was told of.
    whole_records
        How many records had ended before the first fault.
    """

    shape: DocumentShape
    lost: Callable[[Lost], None]
    damage: tuple[int, str] | None = None
    lost_records: int = 0
    whole_records: int = 0
    _held: bytearray = field(default_factory=bytearray)
    # Where the bytes held begin, and where the last record or element around some begins.
    _begin: int = 0
    _safe: int = 0
    _line: int = 1
    _open: list[str] = field(default_factory=list)
    _safe_open: list[str] = field(default_factory=list)
    _depth: int = 0
    _encoding: str = "utf-8"
    _through: bool = False
    # Whether what stands before the root is passed.
    _begun: bool = False
    # How many records the bytes announce that passed as they are behind damage.
    _announced: int = 0
    # Whether something was lost since the last record: the beginning of one whose end comes, then.
    _beginning_lost: bool = False

    def __post_init__(self) -> None:
        self._checker = expat.ParserCreate()
        self._checker.StartElementHandler, self._checker.EndElementHandler = self._started, self._ended
        self._checker.XmlDeclHandler = self._declared
        self._tags, self._signs, self._begins = self.shape.tags(), self.shape.signs(), self.shape.begins()

    def feed(self, data: bytes, *, last: bool = False) -> bytes:
        """Take the next bytes; returns those that can be parsed by now."""
        if self._through:
            self._announce(data)
            return data
        self._held += data
        if self.damage is None:
            try:
                self._checker.Parse(data, last)
            except (LookupError, ValueError):
                return self._all()  # a mark of its order of bytes overrules the name of an encoding
            except expat.ExpatError as problem:
                self.damage = self._line_of(problem), expat.ErrorString(problem.code)
                if self._hides_tags():
                    return self._all()
                self._open = self._safe_open
                passed = self._take(self._safe - self._begin)
                return passed + self._mended(last=last)
            return self._all() if last or len(self._held) > _MOST_BYTES else self._passed()
        return self._mended(last=last)

    @property
    def mends(self) -> bool:
        """Whether the document is cut at its records by now."""
        return self.damage is not None and not self._through

    # --- while it is well-formed ----------------------------------------------------------

    def _declared(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self._encoding = (encoding or "utf-8").lower()

    def _started(self, tag: str, _: object) -> None:
        # Elsewhere it stands in something that damage may have opened.
        if self._depth == len(self._open):
            name = tag.rpartition(":")[2]
            around = name in self.shape.around
            if around or name in self.shape.records:
                self._safe, self._safe_open = self._checker.CurrentByteIndex, list(self._open)
            if around:
                self._open.append(tag)
        self._depth += 1

    def _ended(self, tag: str) -> None:
        self._depth -= 1
        if self._depth == len(self._open) and tag.rpartition(":")[2] in self.shape.records:
            self.whole_records += 1
        del self._open[self._depth :]

    def _line_of(self, problem: expat.ExpatError) -> int:
        """The line of a fault, as editors and libxml2 count: for expat a carriage return ends one, too."""
        if self._hides_tags():
            return problem.lineno
        return self._line + self._held.count(b"\n", 0, max(self._checker.ErrorByteIndex - self._begin, 0))

    def _hides_tags(self) -> bool:
        """Whether the document is in an encoding whose bytes do not tell tags."""
        begin = bytes(self._held[:2]) if not self._begin else b""
        return self._encoding not in _ENCODINGS or begin.startswith(_UTF16)

    def _root(self) -> re.Match[bytes] | None:
        found = next((tag for tag in self._tags.finditer(self._held) if tag[3] is not None), None)
        outermost = min(self.shape.around.values())
        return found if found and self.shape.around.get(found[3].decode()) == outermost else None

    def _passed(self) -> bytes:
        return self._take(self._safe - self._begin)

    def _all(self) -> bytes:
        self._through = True
        self._announce(bytes(self._held))
        return self._take(len(self._held))

    def _announce(self, data: bytes) -> None:
        if self.damage is not None:
            self._announced += len(self._signs.findall(data.replace(b"\0", b"")))

    def tell_unread(self, ended: int) -> None:
        """Tell of records that a document announced which was not cut at them, but for so many that ended."""
        unread = self._announced - ended
        if self.damage is not None and unread > 0:
            self.lost_records += unread
            self.lost(Lost(self.damage[0], unread, b""))

    def _take(self, count: int) -> bytes:
        taken = bytes(self._held[:count])
        del self._held[:count]
        self._begin += count
        self._line += taken.count(b"\n")
        return taken

    # --- from the damage on -----------------------------------------------------------------

    def _mended(self, *, last: bool) -> bytes:
        """What is whole of the bytes held; the last record waits for its end."""
        if not self._begin and not self._open and self._root() is None:
            # It may still come; without it, there is nothing that could hold records.
            return self._all() if last or len(self._held) > _LONGEST_RECORD else b""
        text = bytes(self._held)
        pieces: list[bytes] = []
        done, record = 0, -1
        for tag in self._tags_in(text, last=last):
            name, closes, alone = tag[3].decode(), bool(tag[1]), tag[0].endswith(b"/>")
            is_record = name in self.shape.records
            if record >= 0 and (name in self.shape.inner or (is_record and closes)):
                if is_record:
                    pieces.append(self._record(text[record : tag.end()]))
                    done, record, self._beginning_lost = tag.end(), -1, False
                continue
            if record >= 0:
                # The open record has no end: this tag is none of its own.
                pieces.append(self._dropped(text[record : tag.start()]))
                done, record = tag.start(), -1
            if is_record and not closes and not alone:
                pieces.append(self._between(text[done : tag.start()]))
                done = record = tag.start()
                self._beginning_lost = False
                continue
            if is_record and closes:
                pieces.append(self._unbegun(text[done : tag.end()]))
            else:
                pieces.append(self._between(text[done : tag.start()]))
                pieces.append(self._record(tag[0]) if is_record else self._around(tag, closes, alone))
            done = tag.end()
        if last or len(text) - done > _LONGEST_RECORD:
            rest = text[done:]
            pieces.append(self._dropped(rest) if record >= 0 else self._between(rest))
            done = len(text)
        del self._held[:done]
        return b"".join(pieces)

    def _tags_in(self, text: bytes, *, last: bool) -> Iterator[re.Match[bytes]]:
        """The tags in a text, but for those in comments and the like; none behind one that may go on."""
        place = 0
        unended: set[bytes] = set()
        while (tag := self._tags.search(text, place)) is not None:
            place = tag.end()
            if tag[3] is not None:
                yield tag
                continue
            mark = b"-->" if tag[0] == b"<!--" else b"]]>"
            end = -1 if mark in unended else text.find(mark, place)
            if end >= 0:
                place = end + len(mark)
            elif not last and len(text) - place < _LONGEST_COMMENT:
                return
            else:
                unended.add(mark)

    def _around(self, tag: re.Match[bytes], closes: bool, alone: bool) -> bytes:
        """A tag around records, after the ends of elements that it shows to have ended."""
        name, full = tag[3].decode(), (tag[2] + tag[3]).decode()
        pieces = []
        if closes:
            if full not in self._open:
                return self._counted(tag[0])
            while self._open[-1] != full:
                pieces.append(f"</{self._open.pop()}>".encode())
            self._open.pop()
            self._line += tag[0].count(b"\n")
            return b"".join([*pieces, tag[0]])
        level = self.shape.around[name]
        while self._open and self._level(self._open[-1]) >= level and not self._nested(name):
            pieces.append(f"</{self._open.pop()}>".encode())
        if not alone:
            self._open.append(full)
        if not is_whole(tag[0].removesuffix(b"/>").removesuffix(b">") + b"/>", self._encoding):
            # Its attributes are lost, and not what stands in it.
            bare = f"<{full}/>" if alone else f"<{full}>"
            return b"".join([*pieces, self._dropped(tag[0]), bare.encode()])
        self._line += tag[0].count(b"\n")
        return b"".join([*pieces, tag[0]])

    def _level(self, full: str) -> int:
        return self.shape.around[full.rpartition(":")[2]]

    def _nested(self, name: str) -> bool:
        return name in self.shape.nests and self._open[-1].rpartition(":")[2] == name

    def _between(self, text: bytes) -> bytes:
        """What stands between tags: before the root and outside of records everything that is well-formed."""
        if not self._begin and not self._begun:
            self._begun = True
            if not is_prolog(text):
                # A parser could stop there, and nothing is left of the encoding that it told.
                self._encoding = "utf-8"
                return self._counted(text)
        if not self._open or not text.strip(_BLANK) or is_whole(text, self._encoding):
            self._line += text.count(b"\n")
            return text
        parts = _PARTS.split(text)
        if len(parts) > _MOST_PARTS:
            return self._dropped(text)
        pieces, broken, place = [], b"", 0
        while place < len(parts):
            for end in range(len(parts), place, -1):
                part = b"".join(parts[place:end])
                known = part if is_whole(part, self._encoding) else gently_mended(part, self._encoding)
                if known is not None and (known == part or not self._signs.search(part)):
                    break
            else:
                broken += parts[place]
                place += 1
                continue
            pieces += [self._dropped(broken) if broken else b"", known]
            self._line += part.count(b"\n")
            broken, place = b"", end
        return b"".join([*pieces, self._dropped(broken) if broken else b""])

    def _unbegun(self, text: bytes) -> bytes:
        """The end of a record that did not begin, without that, and what is whole before it."""
        unbegun = self._beginning_lost and not self.shape.placeholder and not self._begins.search(text)
        parts = _PARTS.split(text)
        whole = b""
        for end in range(len(parts) - 1 if len(parts) <= _MOST_PARTS else 0, 0, -1):
            before = b"".join(parts[:end])
            if is_whole(before, self._encoding):
                whole = before
                break
        self._line += whole.count(b"\n")
        rest = text[len(whole) :]
        lost = self._counted(rest) if unbegun else self._dropped(rest)
        self._beginning_lost = False
        return whole + lost

    def _record(self, text: bytes) -> bytes:
        if is_whole(text, self._encoding):
            self._line += text.count(b"\n")
            return text
        mended = gently_mended(text, self._encoding)
        if mended is None and self.shape.recovers:
            mended = recovered(text, self._encoding)
        if mended is None:
            return self._dropped(text)
        self._line += text.count(b"\n")
        return mended + b"\n" * max(text.count(b"\n") - mended.count(b"\n"), 0)

    def _dropped(self, text: bytes) -> bytes:
        """Blank lines for what is lost, and what stands in for it."""
        signs = len(self._signs.findall(text))
        stands_in = self.shape.placeholder * signs
        if not stands_in:
            lead = len(text) - len(text.lstrip())
            line = self._line + text.count(b"\n", 0, lead)
            lost = Lost(line, max(signs, 1), text.strip()[:_SHOWN_BYTES])
            self.lost_records += lost.records
            self.lost(lost)
        self._beginning_lost = True
        return stands_in + self._counted(text)

    def _counted(self, text: bytes) -> bytes:
        lines = text.count(b"\n")
        self._line += lines
        return b"\n" * lines
