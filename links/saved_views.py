"""Saved views of a workspace, for all its members: named filters and orders of its links, and named reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.dispatch import Signal

from accounts.callers import require_scope
from accounts.caps import lock_count
from accounts.models import Workspace
from accounts.rights import Scope
from common.database import in_one_transaction, refusing
from common.errors import Conflict, Forbidden, NotFound
from common.ids import find_by_public_id
from links.models import SavedView
from links.selectors import tag_key
from links.tags.texts import tags_in, text_of

MAX_VIEWS = 50
# The constraint that keeps names unique.
_NAME = "savedview_owner_name"


# Sent with the ``owner`` and the ``report`` before a view keeps it. Receivers raise InvalidFields for what no report
# accepts: what a report is, the floors above know.
keeping_report = Signal()


class TooManyViews(Forbidden):
    code = "quota_exceeded"
    message = f"A workspace may have at most {MAX_VIEWS} views. Delete one first."


class ViewExists(Conflict):
    code = "view_exists"
    message = "The workspace has a view with this name already."


def view_not_found() -> NotFound:
    return NotFound("View not found.")


def list_views(owner: Workspace) -> list[SavedView]:
    """All of them, by name."""
    return list(SavedView.objects.filter(owner=owner).order_by("name"))


def get_view(owner: Workspace, public_id: str, *, lock: bool = False) -> SavedView:
    """``lock`` blocks other writers until the commit. Raises NotFound."""
    views = SavedView.objects.select_for_update() if lock else SavedView.objects.all()
    view = find_by_public_id(views.filter(owner=owner), public_id)
    if view is None:
        raise view_not_found()
    return view


def create_view(*, owner: Workspace, **fields: Any) -> SavedView:
    """Raises InvalidFields, TooManyViews or ViewExists."""
    view = SavedView(owner=owner, **fields)
    _check(owner, view.report)

    def work() -> None:
        lock_count(owner)
        if SavedView.objects.filter(owner=owner).count() >= MAX_VIEWS:
            raise TooManyViews
        view.save(force_insert=True)

    with refusing(_NAME, ViewExists()):
        in_one_transaction(work)
    view.refresh_from_db(fields=["created_at", "updated_at"])
    return view


def change_view(*, owner: Workspace, public_id: str, changes: Mapping[str, Any]) -> SavedView:
    """Raises as `create_view` does, NotFound, or ScopeRequired if the caller could not read the report.

    It may be shared.
    """

    def work() -> SavedView:
        view = get_view(owner, public_id, lock=True)
        if changes.get("report", view.report) != view.report:
            require_scope(owner, Scope.ANALYTICS_READ)
            _check(owner, changes["report"])
        for name, value in changes.items():
            setattr(view, name, value)
        view.save(update_fields=[*changes, "updated_at"])
        return view

    with refusing(_NAME, ViewExists()):
        return in_one_transaction(work)


def _check(owner: Workspace, report: Mapping[str, str] | None) -> None:
    if report is not None:
        keeping_report.send(sender=SavedView, owner=owner, report=report)


def delete_view(*, owner: Workspace, public_id: str) -> None:
    """Raises NotFound."""
    in_one_transaction(lambda: get_view(owner, public_id, lock=True).delete())


def replace_tag(owner: Workspace, key: str, name: str) -> None:
    """Write another tag into the filters, in the caller's transaction."""
    for view in SavedView.objects.select_for_update().filter(owner=owner).order_by("pk"):
        filters = _with_tag(view.filters, key, name)
        report = None if view.report is None else _with_tag(view.report, key, name)
        if (filters, report) != (view.filters, view.report):
            view.filters, view.report = filters, report
            view.save(update_fields=["filters", "report", "updated_at"])


def _with_tag(parameters: Mapping[str, str], key: str, name: str) -> dict[str, str]:
    return {**parameters} | {
        parameter: text_of(dict.fromkeys(name if tag_key(tag) == key else tag for tag in tags_in(tags)))
        for parameter in ("tags", "excludeTags")
        if (tags := parameters.get(parameter))
    }
