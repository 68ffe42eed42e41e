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
from analytics.counting.segments.losses import lost_bytes
from analytics.journal.reader import segments
from analytics.journal.writer import SUFFIX
from analytics.models import Click
from analytics.pipeline_models import Segment
from analytics.visitors.geo import geo
from testing.analytics.clicks import close_journal, drain
from tests.analytics.counting.journaled import MakeLink, journaled, pk
from tests.analytics.mmdb import write_mmdb


@pytest.fixture
def link(make_link: MakeLink) -> int:
    return pk(make_link())


@pytest.fixture
def city_file(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    settings.GEOIP_DATABASE = [tmp_path / "city.mmdb"]
    geo.cache_clear()
    yield settings.GEOIP_DATABASE[0]
    geo.cache_clear()


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
    link: int, clicks_dir: Path, city_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("analytics.visitors.geo.monotonic", lambda: now)
    monkeypatch.setattr(pipeline, "BATCH", 2)
    write_mmdb(city_file, {"8.8.8.0/24": {"country_code": "FR", "city": "Paris"}}, ip_version=4)
    journaled(link, count=4)
    drainer = Drainer(clicks_dir)

    assert drainer.drain_batch() == 2
    write_mmdb(city_file, {"8.8.8.0/24": {"country_code": "DE", "city": "Berlin"}}, ip_version=4)
    now += 60
    assert (drainer.drain_batch(), drainer.drain_batch()) == (2, 0)
    journaled(link)
    assert drainer.drain_batch() == 1

    assert list(Click.objects.order_by("pk").values_list("city", flat=True)) == ["Paris"] * 4 + ["Berlin"]
