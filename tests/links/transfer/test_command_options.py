"""Options that import_links and import_visits share: both refuse wrong values with the same errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.services import NewAccount

pytestmark = pytest.mark.parametrize("command", ["import_links", "import_visits"])


def test_a_domain_of_somebody_else_is_refused(alice: NewAccount, tmp_path: Path, command: str) -> None:
    file = tmp_path / "file"
    file.write_text("originalUrl\nx\n")
    with pytest.raises(
        CommandError, match=r"^hers\.example is not an active domain of alice@example\.com\.$"
    ):
        call_command(command, str(file), "--owner", "Alice@example.com", "--domain", "hers.example")


def test_a_missing_file_is_reported(alice: NewAccount, tmp_path: Path, command: str) -> None:
    with pytest.raises(CommandError, match="No such file"):
        call_command(command, str(tmp_path / "file"), "--owner", "Alice@example.com")


@pytest.mark.django_db
def test_an_unknown_owner_is_refused(tmp_path: Path, command: str) -> None:
    with pytest.raises(CommandError, match=r"^There is no account nobody@example\.com\.$"):
        call_command(command, str(tmp_path / "file"), "--owner", "nobody@example.com")
