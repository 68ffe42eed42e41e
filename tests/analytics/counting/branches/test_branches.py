"""Clicks on the branches of a link: recorded with the branch's number, counted under its id."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from analytics.counting.audit import differences
from analytics.journal.capture import record_claimed_click, record_visit
from analytics.journal.pending import add_pending, open_record
from analytics.journal.reader import segments
from analytics.journal.records import (
    OPTED_OUT,
    SCANNED,
    Origin,
    decode,
    frame_with_origin,
    read_frames,
)
from analytics.models import Click, Kind, PendingRecord
from links.models import Link
from testing.analytics.clicks import drain
from tests.analytics.counting.branches.branch_clicks import (
    FRANCE,
    GERMANY,
    SPLIT,
    MakeLink,
    click,
    clicks_of,
    count,
    identifier,
    unique_clicks,
    visitor,
)
from tests.analytics.counting.branches.branch_clicks import pk as pk
from tests.analytics.counting.branches.branch_clicks import routed as routed

# Recording


@pytest.mark.django_db
@pytest.mark.parametrize("number", [0, 1, 15])
@pytest.mark.parametrize("flags", [0, OPTED_OUT | SCANNED])
def test_number_is_the_upper_half_of_the_flags(number: int, flags: int, clicks_dir: Any) -> None:
    record_visit(visitor(opted_out=bool(flags), scanned=bool(flags)), 7, number)
    [segment] = segments(clicks_dir)
    with segment.open() as file:
        assert file is not None
        [(payload, _)] = file.read(0, 1, has_writer=True).frames
    record = decode(payload)
    assert (record.branch, record.flags) == (number, number << 4 | flags)


def test_claimed_click_is_counted_on_its_branch(routed: dict[str, Any], pk: int) -> None:
    Link.objects.filter(pk=pk).update(max_clicks=5)
    record_claimed_click(visitor(), pk, is_shared=False, branch=2)
    [pending] = PendingRecord.objects.all()
    assert decode(open_record(pending.record)).branch == 2
    assert drain() == 1
    assert clicks_of() == unique_clicks() == {identifier(FRANCE): 1}
    assert list(differences()) == []


# Counting


def test_clicks_are_counted_by_branch(pk: int) -> None:
    kinds = [Kind.HEAD, Kind.PREFETCH, Kind.CRAWLER]
    count(
        [
            *(click(pk, number, second) for second, number in enumerate([0, 1, 1, 3, 2, 1])),
            *(click(pk, 1, 10, kind=kind) for kind in kinds),
            click(pk, 0, 11, kind=Kind.REFUSED, reason="country"),
        ]
    )
    assert clicks_of() == {identifier(GERMANY): 3, identifier(FRANCE): 1, identifier(SPLIT): 1}
    ids = [None, *(uuid.UUID(identifier(entry)) for entry in (GERMANY, FRANCE, SPLIT))]
    rows = Click.objects.order_by("time", "kind").values_list("kind", "branch")
    assert list(rows) == [
        *((Kind.CLICK, ids[number]) for number in [0, 1, 1, 3, 2, 1]),
        *((kind, ids[1]) for kind in kinds), (Kind.REFUSED, None),
    ]  # fmt: skip
    assert list(differences()) == []


def test_pending_records_keep_their_branch(pk: int) -> None:
    add_pending(click(pk, 2))
    assert drain() == 1
    assert clicks_of() == {identifier(FRANCE): 1}


def test_rewritten_record_keeps_its_branch() -> None:
    [rewritten] = read_frames(frame_with_origin(click(7, 15), Origin(uuid.uuid4(), 40)), 1)
    assert decode(rewritten.payload).branch == 15


def test_links_without_branches_have_no_values(make_link: MakeLink) -> None:
    plain = Link.objects.get(public_id=make_link()["_id"]).pk
    count([click(plain, 0)])
    assert clicks_of() == unique_clicks() == {}


def test_clicks_of_plain_and_routed_links_are_counted_in_one_batch(pk: int, make_link: MakeLink) -> None:
    plain = Link.objects.get(public_id=make_link()["_id"]).pk
    count([click(plain, 0), click(pk, 1), click(plain, 0), click(pk, 0)])
    assert clicks_of() == {identifier(GERMANY): 1}
    assert Click.objects.filter(link_id=plain).count() == Click.objects.filter(link_id=pk).count() == 2
    assert list(differences()) == []
