"""Templates: what varies becomes a wildcard whatever the order of messages; names read like words."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import LogPatternError
from cepctl.io.contract.message_template import OTHER, MessageTemplate, templates_in, templates_text
from cepctl.io.templates.files import load_templates, templates_file
from cepctl.io.templates.masking import keys_of, words_of
from cepctl.io.templates.naming import type_names
from cepctl.io.templates.survey import MOST_KEYS, MOST_TEMPLATES, Survey, survey_of, templates_of
from cepctl.io.templates.variables import TemplateTable

SSHD = [
    "Failed password for root from 10.0.0.7 port 38926 ssh2",
    "Failed password for invalid user webmaster from 173.234.31.186 port 38926 ssh2",
    "Failed password for invalid user test9 from 52.80.34.196 port 36060 ssh2",
    "Received disconnect from 10.0.0.7: 11: Bye Bye [preauth]",
    "pam_unix(sshd:auth): check pass; user unknown",
]


def templates(messages: list[str]) -> tuple[MessageTemplate, ...]:
    return templates_of(survey_of([pa.array(messages, pa.string())])).templates


def test_messages_of_one_kind_share_a_template_and_what_varies_is_named() -> None:
    found = {each.event_type: (each.text, each.names) for each in templates(SSHD)}
    assert found == {
        "Failed password for invalid user": (
            "Failed password for invalid user <*> from <*> port <*> <*>",
            ("user", "ip", "port", "v4"),
        ),
        "Failed password for root from": (
            "Failed password for root from <*> port <*> <*>",
            ("ip", "port", "v3"),
        ),
        "Received disconnect from": ("Received disconnect from <*> <*> Bye Bye [preauth]", ("ip", "v2")),
        "pam_unix(sshd:auth): check pass; user unknown": (
            "pam_unix(sshd:auth): check pass; user unknown",
            (),
        ),
    }


def test_variables_are_what_stands_in_their_places_without_the_punctuation_around_it() -> None:
    messages = pa.array([*SSHD, "nothing like it", None, ""])
    table = TemplateTable(templates(SSHD))
    types, attributes, _ = table.typed(messages.fill_null(""))
    assert types.to_pylist()[5:] == [OTHER] * 3
    assert attributes["user"].to_pylist() == [None, "webmaster", "test9", None, None, None, None, None]
    assert attributes["ip"].to_pylist()[:4] == ["10.0.0.7", "173.234.31.186", "52.80.34.196", "10.0.0.7"]
    assert attributes["v2"].to_pylist()[3] == "11"


def test_words_that_are_masked_as_one_are_one_variable() -> None:
    messages = [
        "done at Sun Jul 17 15:09:16 2005 in 12 ms, uid=0",
        "done at Mon Jul 18 15:09:16 2005 in 7 ms, uid=12",
    ]
    (template,) = templates(messages)
    assert (template.text, template.names) == ("done at <*> in <*> uid=<*>", ("v1", "duration", "uid"))
    _, attributes, _ = TemplateTable([template]).typed(pa.array(messages))
    assert attributes["v1"].to_pylist() == ["Sun Jul 17 15:09:16 2005", "Mon Jul 18 15:09:16 2005"]
    assert attributes["duration"].to_pylist() == ["12 ms", "7 ms"]
    assert attributes["uid"].to_pylist() == ["0", "12"]


@given(
    st.permutations(
        [f"user {name} in room {room}" for name in ("ann", "bob", "cy") for room in ("a", "b")] + SSHD
    ),
    st.integers(1, 10),
)
def test_templates_depend_neither_on_the_order_of_messages_nor_on_how_they_are_divided(
    messages: list[str], parts: int
) -> None:
    divided = Survey()
    for part in range(parts):
        divided.join(survey_of([pa.array(messages[part::parts], pa.string())]))
    found, expected = templates_of(divided).templates, templates(sorted(messages))
    assert [(each.event_type, each.tokens) for each in found] == [
        (each.event_type, each.tokens) for each in expected
    ]


@given(st.lists(st.text(st.sampled_from("ab9-_é. \t"), max_size=12), max_size=8))
def test_a_key_is_the_message_with_a_nought_for_each_word_with_a_digit(messages: list[str]) -> None:
    def key(message: str) -> str:
        words, word = "", ""
        for letter in message + " ":
            if letter in "ab9é":
                word += letter
            else:
                words += ("0" if "9" in word else word) + letter
                word = ""
        return words[:-1]

    assert keys_of(pa.array(messages, pa.string())).to_pylist() == [key(message) for message in messages]


@given(
    st.lists(
        st.sampled_from(["took", "0", "0.0.0.0:0", "a=0", "Jul 0 0:0:0 0", "0 ms,", "/a/b/c", "b_0"]),
        min_size=1,
    )
)
def test_every_word_of_a_message_is_in_one_word_of_its_template(words: list[str]) -> None:
    message = " ".join(words)
    found, spans = words_of(message)
    assert len(found) == len(spans)
    assert sum(spans) == len(message.split())


def test_templates_that_are_known_stay_and_come_first() -> None:
    known = templates(SSHD[:3])
    renamed = [MessageTemplate("Refused", each.tokens, each.names, each.example) for each in known]
    found = templates_of(survey_of([pa.array([*SSHD, *SSHD])]), renamed)
    assert found.templates[: len(known)] == tuple(renamed)
    assert (found.known, found.new, found.none) == (6, 4, 0)


def test_of_a_million_kinds_only_so_many_are_types() -> None:
    letters = "abcdefghijklmnopqrst"
    kinds = [
        f"{a}{b}{c} {d}{a} {c}{d}x" for a in letters for b in letters for c in letters for d in letters[:8]
    ]
    survey = Survey()
    for start in range(0, len(kinds), 10_000):
        survey.add(pa.array(kinds[start : start + 10_000]))
    assert (len(survey.counts), survey.beyond) == (MOST_KEYS, len(kinds) - MOST_KEYS)
    few = Survey({f"{a}{b}{c} same{c}{b} x{a}": 1 for a in letters for b in letters for c in letters})
    few.examples = {key: key for key in few.counts}
    found = templates_of(few)
    assert len(found.templates) <= MOST_TEMPLATES
    assert found.new + found.none == len(few.counts)


def test_names_of_types_differ() -> None:
    assert type_names([("a", "b", "<*>"), ("a", "b", "<*>", "<*>"), ("<*>",), ("<*>", "<*>")], ["a b"]) == [
        "a b (2)",
        "a b (3)",
        "Message of 1 word",
        "Message of 2 words",
    ]


def test_a_file_of_templates_gives_them_back(tmp_path: Path) -> None:
    found = templates([*SSHD, 'says "no\\yes" to 7 \x7f é'])
    (tmp_path / "t.toml").write_text(templates_file(found, {found[0].event_type: 2}), encoding="utf-8")
    assert load_templates(str(tmp_path / "t.toml")) == found
    assert templates_in(templates_text(found)) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.toml: it has no templates"),
        ("[[template]]\nevent_type = 'A'\n", "t.toml:1: a template needs 'template'"),
        (
            "\n[[template]]\nevent_typ = 'A'\n",
            "t.toml:2: unknown key 'event_typ', did you mean 'event_type'?",
        ),
        (
            "[[template]]\nevent_type='A'\ntemplate='a <*>'\nnames=[]\n",
            "t.toml:1: 'names' must be 1 different names",
        ),
        (
            "[[template]]\nevent_type='A'\ntemplate='in by ssh2 (uid=0)'\n",
            "t.toml:1: the word 'ssh2' of the template has a digit, .*; write <.> for it, and a name",
        ),
        ("[[template]\n", "t.toml: "),
    ],
)
def test_a_wrong_file_of_templates_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "t.toml").write_text(text)
    with pytest.raises(LogPatternError, match=message.replace("?", r"\?")):
        load_templates(str(tmp_path / "t.toml"))
