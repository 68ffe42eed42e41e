"""The short form of user agents in the journal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.counting.enrichment import facts_of
from analytics.journal.agents import agent_and_language, short_agent, with_language
from analytics.journal.records import decode, encode_fields, fields_of
from testing.visitors.agents import FIREFOX, MOBILE, TABLET, agent

PARTS = st.sampled_from([FIREFOX, MOBILE, TABLET, *map(agent, range(20))])


TEXTS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\t")) | PARTS).map("".join)


@given(TEXTS, st.sampled_from(["", "de", "haw"]))
@pytest.mark.slow
def test_the_long_form_of_a_short_form_is_the_text(text: str, language: str) -> None:
    recorded = with_language(short_agent(text.encode()), language.encode())
    assert agent_and_language(recorded) == (text.encode(), language.encode())


def test_user_agents_of_browsers_take_less_than_half() -> None:
    texts = [agent(number).encode() for number in range(100)]
    assert 2 * sum(len(short_agent(text)) for text in texts) < sum(map(len, texts))


def test_a_visitor_is_the_same_in_either_form_and_with_any_language() -> None:
    long, short = MOBILE.encode(), short_agent(MOBILE.encode())
    german = with_language(short, b"de")
    records = [encode_fields(0, 7, 0, 0, b"8.8.8.8", text, b"") for text in (long, short, german)]
    assert [decode(record).user_agent for record in records] == [MOBILE] * 3
    assert [decode(record).language for record in records] == ["", "", "de"]
    [one, other, third] = facts_of(map(fields_of, records), {0: b"salt"}, {})
    assert one == other
    assert (third.visitor, third.client) == (one.visitor, f"{one.client}\tde")
