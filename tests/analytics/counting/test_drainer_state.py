"""What a drainer remembers between two batches: offsets, damaged segments, and places of addresses."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from pytest_django.fixtures import Settings

from analytics.counting import pipeline
from analytics.counting.pipeline import Drainer
from analytics.counting.segments import lost_bytes
from analytics.journal import reader
from analytics.journal.reader import segment_path, segments
from analytics.journal.records import Origin, frame_with_origin, read_frames
from analytics.journal.writer import SUFFIX
from analytics.models import Click, Segment
from analytics.visitors.geo import geo
from testing.analytics.clicks import close_journal, drain
from testing.analytics.journaled import MakeLink, journaled, pk
from tests.analytics.mmdb import write_mmdb


@pytest.fixture
def link(make_link: MakeLink) -> int:
    return pk(make_link())


@pytest.fixture
def place_in(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], None]]:
    """Replaces the city database by one with this city only, long enough ago to be noticed."""
    settings.GEOIP_DATABASE = [tmp_path / "city.mmdb"]
    moments = count(1000, 60)
    now = next(moments)
    monkeypatch.setattr("analytics.visitors.geo.monotonic", lambda: now)

    def replace(city: str) -> None:
        nonlocal now
        write_mmdb(tmp_path / "city.mmdb", {"8.8.8.0/24": {"country_code": "FR", "city": city}}, ip_version=4)
        now = next(moments)

    geo.cache_clear()
    yield replace
    geo.cache_clear()


def cities() -> list[str]:
    return list(Click.objects.order_by("pk").values_list("city", flat=True))


def lose_connection(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
    if "SAVEPOINT" not in sql:
        raise OperationalError("the connection is lost")
    return execute(sql, *arguments)


def test_after_a_database_error_the_database_may_be_an_older_one(link: int, clicks_dir: Path) -> None:
    drainer = Drainer(clicks_dir)
    dump = transaction.savepoint()
    journaled(link, count=2)
    close_journal()
    deleted_size = segments(clicks_dir)[0].path.stat().st_size
    assert (drainer.drain_batch(), drainer.drain_batch(), segments(clicks_dir)) == (2, 0, [])
    journaled(link, count=3)
    wiped_size = segments(clicks_dir)[0].path.stat().st_size
    assert drainer.drain_batch() == 3

    transaction.savepoint_rollback(dump)
    journaled(link)
    with connection.execute_wrapper(lose_connection), pytest.raises(OperationalError):
        drainer.drain_batch()

    assert (drainer.drain_batch(), Click.objects.count()) == (1, 1)
    assert lost_bytes() == deleted_size + wiped_size


def test_clicks_that_only_the_primary_has_stay_in_the_journal(
    link: int, clicks_dir: Path, settings: Settings
) -> None:
    settings.REQUIRE_SYNCHRONOUS = True
    drainer = Drainer(clicks_dir)
    before = transaction.savepoint()
    journaled(link, count=2)
    close_journal()
    assert (drainer.drain_batch(), drainer.drain_batch(), Click.objects.count()) == (2, 0, 2)

    # The failover.
    transaction.savepoint_rollback(before)
    settings.REQUIRE_SYNCHRONOUS = False
    with connection.execute_wrapper(lose_connection), pytest.raises(OperationalError):
        drainer.drain_batch()

    assert (drainer.drain_batch(), drainer.drain_batch(), Click.objects.count()) == (2, 0, 2)
    assert (segments(clicks_dir), lost_bytes()) == ([], 0)


def test_damaged_segment_is_set_aside_when_its_writer_exits(
    link: int, clicks_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journaled(link)
    [segment] = segments(clicks_dir)
    segment.path.write_bytes(b"garbage" * 100)
    drainer = Drainer(clicks_dir)
    assert not drainer.has_damage

    assert (drainer.drain_batch(), drainer.drain_batch(), drainer.has_damage) == (0, 0, True)
    assert [path.suffix for path in clicks_dir.iterdir()] == [SUFFIX]

    close_journal()
    assert (drainer.drain_batch(), drainer.has_damage) == (0, True)
    assert [path.suffix for path in clicks_dir.iterdir()] == [".damaged"]
    messages = [record.getMessage() for record in caplog.records if record.name == pipeline.__name__]
    assert [message.split(" is ")[0] for message in messages] == [
        f"Segment {segment.path}",
        f"The damaged segment was renamed to {segment.path.with_suffix('.damaged')}.",
    ]


def test_segment_is_deleted_only_if_the_current_database_has_counted_it(link: int, clicks_dir: Path) -> None:
    """A failover between a batch and the deletion may lose the batch that counted the segment's records."""
    locks = count(1)

    def lose_offset(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        # The batch locks the segment's row first, the deletion second.
        if "FROM analytics_segment" in sql and next(locks) == 2:
            Segment.objects.update(offset=0)
        return execute(sql, *arguments)

    journaled(link, count=2)
    close_journal()
    [segment] = segments(clicks_dir)
    size = segment.path.stat().st_size
    drainer = Drainer(clicks_dir)
    assert (drainer.drain_batch(), segments(clicks_dir)) == (2, [segment])

    with connection.execute_wrapper(lose_offset):
        assert drainer.drain_batch() == 0

    assert lost_bytes() == size


def test_segment_that_is_deleted_before_it_is_opened_is_skipped(link: int, clicks_dir: Path) -> None:
    journaled(link)
    # In the folder's list, but opening it fails with ENOENT.
    (clicks_dir / f"{uuid.UUID(int=0)}{SUFFIX}").symlink_to(clicks_dir / "deleted")

    assert (drain(), Click.objects.count()) == (1, 1)


def test_new_city_database_is_used_after_the_backlog(
    link: int, clicks_dir: Path, place_in: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BATCH", 2)
    place_in("Paris")
    journaled(link, count=4)
    drainer = Drainer(clicks_dir)

    assert drainer.drain_batch() == 2
    place_in("Lyon")
    assert (drainer.drain_batch(), drainer.drain_batch()) == (2, 0)
    journaled(link)
    assert drainer.drain_batch() == 1

    assert cities() == ["Paris"] * 4 + ["Lyon"]


def test_a_drainer_that_has_caught_up_remembers_no_address(
    link: int, clicks_dir: Path, place_in: Callable[[str], None]
) -> None:
    drainer = Drainer(clicks_dir)
    for city in ("Paris", "Lyon"):
        place_in(city)
        journaled(link)
        assert (drainer.drain_batch(), drainer.has_caught_up) == (1, True)

    assert cities() == ["Paris", "Lyon"]


def test_a_drainer_has_not_caught_up_before_records_that_wait_for_their_origin(
    link: int, clicks_dir: Path
) -> None:
    journaled(link, count=2)
    [origin] = segments(clicks_dir)
    [_, last] = read_frames(origin.path.read_bytes(), 2)
    # Segments of one millisecond have no order, so the copy may be read first.
    copy = segment_path(clicks_dir, uuid.UUID(int=1))
    copy.write_bytes(frame_with_origin(last.payload, Origin(origin.id, last.end)))
    drainer = Drainer(clicks_dir)

    assert (drainer.drain_batch(), drainer.has_caught_up) == (2, False)
    assert (drainer.drain_batch(), drainer.has_caught_up) == (1, True)
    assert Click.objects.count() == 2


def test_a_drainer_has_not_caught_up_before_the_rest_of_a_segment_of_long_records(
    link: int, clicks_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journaled(link)
    [segment] = segments(clicks_dir)
    monkeypatch.setattr(reader, "CHUNK_BYTES", segment.path.stat().st_size)
    journaled(link)
    drainer = Drainer(clicks_dir)

    assert (drainer.drain_batch(), drainer.has_caught_up) == (1, False)
    assert (drainer.drain_batch(), drainer.has_caught_up) == (1, True)
