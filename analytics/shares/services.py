"""Creates, changes, lists, revokes and finds shared reports.

The address of a share has a token, of which only a digest is stored: nobody can read addresses from the database.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.db.models.functions import Now
from django.dispatch import receiver

from accounts.callers import require_scope
from accounts.caps import lock_count
from accounts.history import name_author
from accounts.models import Workspace
from accounts.rights import Scope
from accounts.workspaces import workspace_deleted
from analytics.models import EndedShare, Share
from analytics.shares.report import query_of
from bans.services import is_owner_banned
from common.database import execute, in_one_transaction
from common.errors import FieldError, Forbidden, InvalidFields, NotFound, ServiceError
from common.http.short_urls import BASE_ID
from common.ids import find_by_public_id, parse_public_id
from domains.models import Domain
from links.models import Link, SavedView, limits_of
from links.saved_views import get_view, view_not_found
from links.selectors import get_link

MAX_SHARES = 100
PATH = "/reports/"
# 192 bits.
TOKEN_PATTERN = "[A-Za-z0-9_-]{32}"  # noqa: S105 # a regular expression
_TOKEN_BYTES = 24
# For so long, the address of a deleted share answers that it has ended.
ENDED_DAYS = 180

# Deleted links may come back; after that, nothing can make their shares show anything again.
_DELETE_DEAD = """
DELETE FROM analytics_share s WHERE s.expires_at <= now()
    OR s.view_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM links_savedview v WHERE v.public_id = s.view_id AND v.owner_id = s.owner_id
    )
    OR s.url_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM links_link l WHERE l.public_id = s.url_id AND l.owner_id = s.owner_id
    ) AND NOT EXISTS (
        SELECT FROM links_deletedlink d WHERE d.public_id = s.url_id AND d.owner_id = s.owner_id
    )
"""


class TooManyShares(Forbidden):
    code = "quota_exceeded"
    message = f"A workspace may have at most {MAX_SHARES} shared reports. Revoke one first."


class ShareEnded(ServiceError):
    """The share is revoked or expired, or what it showed is gone or banned."""

    status = 410
    code = "share_ended"
    message = "The report is no longer shared."


def share_not_found() -> NotFound:
    return NotFound("Share not found.")


# What a share shows, by column and by the name in the API.
_SUBJECTS = {"view_id": "viewId", "url_id": "urlId"}


class Listed(NamedTuple):
    """A share with its subject, a view or a link. None: it is gone, and the share shows nothing.

    ``is_banned``: a ban applies to the workspace, or to the link. ``answers``: there is such a report now.
    """

    share: Share
    subject: SavedView | Link | None
    is_banned: bool
    answers: bool

    @property
    def status(self) -> str:
        if self.share.is_expired:  # type: ignore[attr-defined] # annotated
            return "expired"
        return "active" if self.answers and not self.is_banned else "unavailable"


class NewShare(NamedTuple):
    listed: Listed
    token: str


def is_shown(subject: SavedView | Link | None) -> bool:
    return subject is not None and (isinstance(subject, Link) or subject.report is not None)


def address_of(token: str) -> str:
    return f"{settings.BASE_URL}{PATH}{token}"


def list_shares(owner: Workspace) -> list[Listed]:
    """All within the limits of the caller's key, the newest first. Four queries."""
    return _listed(owner, _visible_to(owner).order_by("-pk"))


def get_share(owner: Workspace, public_id: str) -> Listed:
    """Raises NotFound."""
    return _listed(owner, [_found(owner, public_id)])[0]


def create_share(*, owner: Workspace, password: str | None = None, **fields: Any) -> NewShare:
    """``fields`` name the view or the link.

    Raises NotFound, InvalidFields, TooManyShares, or ScopeRequired if the caller could not read the report itself.
    """
    subject = _subject_for(owner, fields.get("view_id"), fields.get("url_id"))
    require_scope(owner, Scope.ANALYTICS_READ)
    if not is_shown(subject):
        raise InvalidFields([FieldError("viewId", "no_report", "The view has no report.")])
    query_of(subject, fields.get("period"), fields.get("timezone"))
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    share = Share(owner=owner, digest=_digest(token), password=_hashed(password), **fields)

    def work() -> None:
        name_author()
        lock_count(owner)
        if Share.objects.filter(owner=owner).count() >= MAX_SHARES:
            raise TooManyShares
        share.save(force_insert=True)

    in_one_transaction(work)
    return NewShare(get_share(owner, str(share.public_id)), token)


def change_share(*, owner: Workspace, public_id: str, changes: Mapping[str, Any]) -> Listed:
    """Raises NotFound, InvalidFields, or ScopeRequired if the caller could not read the report itself.

    A view or link that is sent back must be that of the share.
    """
    values = dict(changes)
    sent = {name: values.pop(name) for name in _SUBJECTS if name in values}
    if "password" in values:
        values["password"] = _hashed(values["password"])

    def work() -> None:
        name_author()
        share = _found(owner, public_id, lock=True)
        require_scope(owner, Scope.ANALYTICS_READ)
        if other := [
            name for name, sent_id in sent.items() if parse_public_id(sent_id or "") != getattr(share, name)
        ]:
            raise InvalidFields(
                FieldError(_SUBJECTS[name], "immutable", "Cannot be changed.") for name in other
            )
        for name, value in values.items():
            setattr(share, name, value)
        [(_, subject, _)] = _with_subjects(owner, [share])
        if subject is not None and {"period", "timezone"} & values.keys():
            query_of(subject, share.period, share.timezone)
        share.save(update_fields=[*values, "updated_at"])

    in_one_transaction(work)
    return get_share(owner, public_id)


def delete_share(*, owner: Workspace, public_id: str) -> None:
    """Raises NotFound."""

    def work() -> None:
        name_author()
        _found(owner, public_id, lock=True).delete()

    in_one_transaction(work)


def open_share(token: str) -> tuple[Share, SavedView | Link]:
    """The share with this token and what it shows. Raises NotFound or ShareEnded."""
    digest = _digest(token)
    share = _dated(Share.objects.filter(digest=digest)).select_related("owner").first()
    if share is None:
        if EndedShare.objects.filter(digest=digest).exists():
            raise ShareEnded
        raise share_not_found()
    [(_, subject, is_banned)] = _with_subjects(share.owner, [share])
    if share.is_expired or is_banned or subject is None or not is_shown(subject):  # type: ignore[attr-defined] # annotated
        raise ShareEnded
    return share, subject


def delete_dead_shares() -> None:
    """Delete shares that will never show anything again, and forget those that ended long ago."""
    execute(_DELETE_DEAD)
    EndedShare.objects.filter(ended_at__lt=Now() - timedelta(days=ENDED_DAYS)).delete()


@receiver(workspace_deleted)
def _delete_with_workspace(workspace: Workspace, **_: Any) -> None:
    """A cascade would record the deletions in the history after that has been deleted."""
    Share.objects.filter(owner=workspace).delete()


def _subject_for(owner: Workspace, view_id: str | None, url_id: str | None) -> SavedView | Link:
    """Raises NotFound, for every view if the caller's key is limited to some links."""
    if url_id is not None:
        return get_link(owner, url_id)
    if limits_of(owner.key) or view_id is None:
        raise view_not_found()
    return get_view(owner, view_id)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _hashed(password: str | None) -> str | None:
    return None if password is None else make_password(password)


def _dated(shares: QuerySet[Share]) -> QuerySet[Share]:
    """With ``is_expired``, by the clock of the database."""
    expired = Q(expires_at__isnull=False, expires_at__lte=Now())
    return shares.annotate(is_expired=ExpressionWrapper(expired, BooleanField()))


def _visible_to(owner: Workspace) -> QuerySet[Share]:
    """A limited key sees the shares of the links that it may read."""
    shares = _dated(Share.objects.filter(owner=owner))
    if limits_of(owner.key):
        return shares.filter(url_id__in=Link.objects.visible_to(owner).values("public_id"))
    return shares


def _found(owner: Workspace, public_id: str, *, lock: bool = False) -> Share:
    shares = _visible_to(owner)
    share = find_by_public_id(shares.select_for_update() if lock else shares, public_id)
    if share is None:
        raise share_not_found()
    return share


def _listed(owner: Workspace, shares: Iterable[Share]) -> list[Listed]:
    found = _with_subjects(owner, shares)
    domains = _domains_of(owner, (subject for _, subject, _ in found if subject is not None))
    return [
        Listed(share, subject, is_banned, subject is not None and _answers(share, subject, domains))
        for share, subject, is_banned in found
    ]


def _with_subjects(
    owner: Workspace, shares: Iterable[Share]
) -> list[tuple[Share, SavedView | Link | None, bool]]:
    """Each share with its subject, and whether that is banned."""
    listed = list(shares)
    views = {share.view_id for share in listed if share.view_id is not None}
    links = {share.url_id for share in listed if share.url_id is not None}
    subjects: dict[UUID | None, SavedView | Link] = {}
    banned: set[UUID | None] = set()
    if views:
        subjects |= {
            view.public_id: view for view in SavedView.objects.filter(owner=owner, public_id__in=views)
        }
        banned |= views if is_owner_banned(owner.pk) else set()
    if links:
        # The ban of a workspace concerns its links, too.
        found = Link.objects.filter(owner=owner, public_id__in=links).select_related("domain").with_bans()
        for link in found:
            subjects[link.public_id] = link
            if link.ban_reason is not None:
                banned.add(link.public_id)
    named = [(share, share.view_id or share.url_id) for share in listed]
    return [(share, subjects.get(name), name in banned) for share, name in named]


def _domains_of(owner: Workspace, subjects: Iterable[SavedView | Link]) -> set[str]:
    """Those of the workspace's domains that views report. One query, and none if no view names one."""
    named = {(subject.report or {}).get("domainId") for subject in subjects if isinstance(subject, SavedView)}
    identifiers = [identifier for text in named if (identifier := parse_public_id(text or ""))]
    if not identifiers:
        return set()
    found = Domain.objects.filter(owner=owner, public_id__in=identifiers)
    return {str(public_id) for public_id in found.values_list("public_id", flat=True)}


def _answers(share: Share, subject: SavedView | Link, domains: set[str]) -> bool:
    """Whether the report is accepted, however much there is to read. ``domains``: those that views may name."""
    if not is_shown(subject):
        return False
    try:
        domain_id = query_of(subject, share.period, share.timezone).get("domain_id", BASE_ID)
    except InvalidFields:
        return False
    return domain_id == BASE_ID or str(parse_public_id(domain_id)) in domains
