"""The texts of clicks have numbers, and a drainer's numbers are those of its database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from analytics.counting.day_visitors import EPOCH
from analytics.counting.raw_clicks import ClickTexts
from analytics.counting.retention import delete_old_clicks, ensure_partitions
from analytics.models import Click, ClickText
from testing.analytics.clicks import drain
from testing.analytics.journaled import MakeLink, journaled, pk

WEEK = 2_900


@pytest.mark.django_db(transaction=True)
def test_a_text_that_was_committed_keeps_its_number() -> None:
    texts = ClickTexts()
    with transaction.atomic():
        first = texts.numbers(WEEK, ["a", "b", ""])
    assert texts.numbers(WEEK, ["b", "a"]) == first
    assert first[""] == 0
    assert ClickTexts().numbers(WEEK, ["a"])["a"] == first["a"]
    assert ClickText.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_text_that_was_rolled_back_is_added_again() -> None:
    texts = ClickTexts()
    with transaction.atomic():
        texts.numbers(WEEK, ["a"])
        transaction.set_rollback(True)
    number = texts.numbers(WEEK, ["a"])["a"]
    assert ClickText.objects.get().number == number


@pytest.mark.django_db(transaction=True)
def test_numbers_of_a_restored_database_are_read_again() -> None:
    texts = ClickTexts()
    texts.numbers(WEEK, ["a", "b"])
    # The dump has the first text only, and another drainer has given the second number to another text.
    ClickText.objects.filter(text="b").update(text="c")
    assert texts.numbers(WEEK, ["c"])["c"] == ClickText.objects.get(text="c").number
    number = texts.numbers(WEEK, ["b"])["b"]
    assert ClickText.objects.get(text="b").number == number


@pytest.mark.django_db(transaction=True)
def test_only_the_two_latest_weeks_are_known() -> None:
    texts = ClickTexts()
    for week in (WEEK, WEEK + 1, WEEK + 2, WEEK):
        texts.numbers(week, ["a"])
    assert sorted(texts._weeks) == [WEEK + 1, WEEK + 2]


def test_texts_are_deleted_with_the_clicks_of_their_month(make_link: MakeLink) -> None:
    link, now = pk(make_link()), datetime.now(UTC)
    for age in (0, 29):
        journaled(link, now - timedelta(days=age))
    drain()
    ensure_partitions()
    delete_old_clicks(3_000)
    assert ClickText.objects.count() == 4
    delete_old_clicks(1)
    assert {click.device for click in Click.objects.all()} == {"desktop"}
    first = (now - timedelta(days=1)).date().replace(day=1)
    counted = {((now - timedelta(days=age)).date() - EPOCH).days // 7 for age in (0, 29)}
    # A week of two months stays with the later one.
    assert set(ClickText.objects.values_list("week", flat=True)) == {
        week for week in counted if EPOCH + timedelta(weeks=week + 1) > first
    }
