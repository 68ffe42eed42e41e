"""Invalid files and rows, and imports that are interrupted."""

from __future__ import annotations

import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics import visit_imports
from analytics.counting.audit import differences
from analytics.counting.imported_days import LOCK
from tests.analytics.reading import report
from tests.analytics.visit_imports.visit_files import (
    GOATCOUNTER,
    YOURLS,
    run,
    shlink_visits,
)
from tests.analytics.visit_imports.visit_files import file as file
from tests.analytics.visit_imports.visit_files import links as links


def test_bad_rows_are_refused_one_by_one(api: APIClient, links: dict[str, Any], file: Path) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=2)
    bad = [
        "0000-00-00 00:00:00",
        "yesterday",
        "",
        "2024-13-01 00:00:00",
        "1999-12-31 00:00:00",
        f"{tomorrow:%Y-%m-%d} 00:00",
        "0001-01-01T00:00:00+10:00",
    ]
    rows = [f"{number},{time},my-link" for number, time in enumerate([*bad, "2024-03-01 00:00:00"])]
    file.write_text("\n".join(["click_id,click_time,shorturl", *rows, "9,9,9,9"]))
    lines, status = run(file, "--apply")
    assert [line.split(":")[0] for line in lines[:8]] == [str(row) for row in (1, 2, 3, 4, 5, 6, 7, 9)]
    assert {line.split(": ")[1] for line in lines[:8]} == {"refused, validation_error"}
    assert (lines[-1], status) == (
        "1 of 1 visits were added (yourls), 0 rows do not count, 8 rows were refused.",
        1,
    )


def test_control_characters_are_neither_looked_up_nor_printed(
    api: APIClient, links: dict[str, Any], file: Path
) -> None:
    file.write_text(GOATCOUNTER + "/%00x%1b[2J,,false,,,Linux,1,0,,DE,true,2024-03-01T09:30:00Z\n")
    lines, status = run(file, "--apply")
    assert lines[2:] == [
        "refused, not_found: http://sho.rt/%00x%1B%5B2J: visits 1, days 1",
        "4 of 5 visits were added (goatcounter), 2 rows do not count, 0 rows were refused.",
    ]
    assert status == 1
    file.write_text(shlink_visits("https://a\x1bc.test/my-link", "https://b.test/my-link"))
    assert run(file)[0][0] == "refused, ambiguous_host: a%1Bc.test/my-link: visits 1, days 1"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "content: The file contains no visits."),
        (
            b"a,b\n1,2\n",
            "content: Unrecognised format: these are not visits of YOURLS, Shlink or GoatCounter.",
        ),
        (b"3Path,Date\n/a,2024-03-01\n", "content: Unrecognised format: .*"),
        (b"click_time,shorturl\n\xff,a\n", "The file is not valid UTF-8. Nothing was added."),
    ],
)
def test_errors_in_a_file_are_reported(alice: NewAccount, file: Path, content: bytes, complaint: str) -> None:
    file.write_bytes(content)
    with pytest.raises(CommandError, match=f"^{complaint}$"):
        run(file)


def test_ctrl_c_finishes_the_batch_and_a_second_run_adds_the_rest(
    api: APIClient, links: dict[str, Any], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit_imports, "BATCH", 1)
    real = visit_imports.add_days

    def interrupted(days: Any) -> int:
        signal.raise_signal(signal.SIGINT)
        return real(days)

    monkeypatch.setattr(visit_imports, "add_days", interrupted)
    file.write_text(YOURLS)
    lines, status = run(file, "--apply")
    assert (lines[-1], status) == (
        "Interrupted. Each batch was added as a whole or not at all. Run the same command again to continue: no visit"
        " is added twice.",
        130,
    )
    assert list(differences()) == []
    monkeypatch.setattr(visit_imports, "add_days", real)
    assert run(file, "--apply")[1] == 0
    assert [report(api, link["_id"])["totalClicks"] for link in links.values()] == [3, 1]
    assert list(differences()) == []


def test_ctrl_c_in_a_dry_run_adds_nothing(
    links: dict[str, Any], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit_imports, "BATCH", 1)
    real = visit_imports.new_clicks

    def interrupted(days: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(days)

    monkeypatch.setattr(visit_imports, "new_clicks", interrupted)
    file.write_text(YOURLS)
    lines, status = run(file)
    assert (lines[-1], status) == ("Interrupted. Nothing was added.", 130)


def test_a_lock_timeout_says_how_to_continue(links: dict[str, Any], file: Path) -> None:
    file.write_text(YOURLS)
    other = connection.copy()
    try:
        with other.cursor() as cursor, connection.cursor() as own:
            cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
            own.execute("SET LOCAL lock_timeout = '50ms'")
            with pytest.raises(
                CommandError,
                match=r"^The database failed: .*lock timeout.* Each batch was added as a whole or not at all\."
                r" Run the same command again to continue\.$",
            ):
                run(file, "--apply")
    finally:
        other.close()
    assert run(file, "--apply")[0][-1].startswith("4 of 4 visits were added")
