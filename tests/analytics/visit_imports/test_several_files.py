"""Imports of several files, and files of one link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from rest_framework.test import APIClient

from accounts.services import NewAccount
from tests.analytics.visit_imports.visit_files import (
    YOURLS,
    clicks_by_day,
    run,
)
from tests.analytics.visit_imports.visit_files import file as file
from tests.analytics.visit_imports.visit_files import links as links


def test_a_day_in_several_files_is_added_up(api: APIClient, links: dict[str, Any], file: Path) -> None:
    header, *rows = YOURLS.splitlines(keepends=True)
    second = file.with_name("second")
    file.write_text(header + rows[0] + "9,never,my-link\n")
    second.write_text(header + "".join(rows[1:]) + "9,,my-link\n")
    for added in (4, 0):
        assert run(file, second, "--apply") == (
            [
                f"{file}, row 2: refused, validation_error: click_time: Must be a date and time.",
                f"{second}, row 4: refused, validation_error: click_time: Must be a date and time.",
                "http://sho.rt/my-link: visits 3, days 2",
                "http://sho.rt/other: visits 1, days 1",
                f"{added} of 4 visits were added (yourls), 0 rows do not count, 2 rows were refused.",
            ],
            1,
        )
    assert clicks_by_day(api, links["my-link"]) == {"2024-03-01": 2, "2024-03-03": 1}


def test_an_error_names_the_file_and_no_file_counts_twice(alice: NewAccount, file: Path) -> None:
    file.write_text(YOURLS)
    second = file.with_name("second")
    second.write_bytes(b"")
    with pytest.raises(CommandError, match=f"^{second}: content: The file contains no visits.$"):
        run(file, second, "--apply")
    with pytest.raises(CommandError, match=r"^The same file is named twice: .* Nothing was added\.$"):
        run(file, file.parent / "." / file.name, "--apply")


def test_former_codes_count_for_their_link(api: APIClient, links: dict[str, Any], file: Path) -> None:
    api.put(f"/api/urls/{links['my-link']['_id']}", {"customCode": "renamed"})
    file.write_text(YOURLS + "5,2024-03-01 00:00:00,renamed,,,,\n")
    assert run(file, "--apply")[0][-1].startswith("5 of 5 visits were added")
    assert clicks_by_day(api, links["my-link"]) == {"2024-03-01": 3, "2024-03-03": 1}


def test_a_file_of_one_link_needs_its_code(api: APIClient, links: dict[str, Any], file: Path) -> None:
    file.write_text("date,potentialBot,browser\n2024-03-01T09:30:00+00:00,false,Firefox\n")
    assert run(file, "--apply")[0] == [
        "0 of 0 visits were added (shlink), 1 rows do not count, 0 rows were refused."
    ]
    assert run(file, "--apply", "--code", "my-link")[0][-1].startswith("1 of 1 visits were added")
