"""The short form of user agents in the journal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.counting.enrichment import facts_of
from analytics.journal.agents import long_agent, short_agent
from analytics.journal.records import decode, encode_fields, fields_of
from testing.visitors.agents import FIREFOX, MOBILE, TABLET, agent

PARTS = st.sampled_from([FIREFOX, MOBILE, TABLET, *map(agent, range(20))])


@given(st.lists(st.text() | PARTS).map("".join))
@pytest.mark.slow
def test_the_long_form_of_a_short_form_is_the_text(text: str) -> None:
    assert long_agent(short_agent(text.encode())).decode() == text


def test_user_agents_of_browsers_take_less_than_half() -> None:
    texts = [agent(number).encode() for number in range(100)]
    assert 2 * sum(len(short_agent(text)) for text in texts) < sum(map(len, texts))


def test_a_visitor_is_the_same_in_either_form() -> None:
    long, short = MOBILE.encode(), short_agent(MOBILE.encode())
    records = [encode_fields(0, 7, 0, 0, b"8.8.8.8", text, b"") for text in (long, short)]
    assert [decode(record).user_agent for record in records] == [MOBILE, MOBILE]
    [one, other] = facts_of(map(fields_of, records), {0: b"salt"}, {})
    assert one == other
