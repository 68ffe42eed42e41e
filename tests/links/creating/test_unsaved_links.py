"""New links are made without the model's constructor, with the same values."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.services import NewAccount
from links.models import Link
from links.selectors import unsaved_link

# Their defaults are expressions of the database.
TIMES = ("created_at", "updated_at")


def columns(link: Link) -> dict[str, Any]:
    values = {field.attname: getattr(link, field.attname) for field in Link._meta.concrete_fields}
    return values | {name: type(values[name]) for name in TIMES}


def test_a_new_link_has_the_values_of_the_constructor(alice: NewAccount) -> None:
    related = {"owner": alice.workspace, "creator": alice.user, "domain": None}
    made = unsaved_link(related=related, title="Spring", short_code="spring")
    assert columns(made) == columns(
        Link(**related, title="Spring", short_code="spring", public_id=made.public_id)
    )
    assert (made.owner, made.creator, made.domain) == (alice.workspace, alice.user, None)
    assert made._state.adding


def test_a_new_link_has_no_other_columns(alice: NewAccount) -> None:
    related = {"owner": alice.workspace, "creator": None, "domain": None}
    with pytest.raises(TypeError, match=r"No columns: \['titel'\]\."):
        unsaved_link(related=related, titel="Spring")


def test_new_links_share_no_lists(alice: NewAccount) -> None:
    related = {"owner": alice.workspace, "creator": None, "domain": None}
    first, second = unsaved_link(related=related), unsaved_link(related=related)
    first.tags.append("spring")
    first.utm["source"] = "mail"
    assert (second.tags, second.utm) == ([], {})
    assert first.public_id != second.public_id
