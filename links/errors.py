"""Errors that several kinds of calls about links raise: the same code and text in each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.history import person, visible_actor
from accounts.models import Change, User
from common.errors import Conflict, NotFound, PreconditionFailed
from common.http.current_request import AuthMethod
from common.rest.fields import iso_utc
from domains.models import Domain
from links.fields import UNIQUE, LinkField
from links.models import Link


class CodeTaken(Conflict):
    code = "code_taken"

    def __init__(self, taken: str) -> None:
        super().__init__(f"The code {taken} is already in use.")
        self.taken = taken


class ValueTaken(Conflict):
    """The value of a field that is unique in a workspace."""

    def __init__(self, field: LinkField) -> None:
        message = f"Another URL of the workspace has this {field.name}."
        super().__init__(message, code=f"{field.column}_taken")


# That of each unique field.
VALUES_TAKEN = tuple(map(ValueTaken, UNIQUE))


class NotRestorable(Conflict):
    code = "not_restorable"
    message = "This change has no former value that can be restored."


class AnotherVersion(PreconditionFailed):
    """None of the tags in ``If-Match`` is that of a former version."""

    def __init__(self, link: Link) -> None:
        super().__init__("This URL has another version than those in If-Match.")
        self.data: Mapping[str, Any] = {"changedAt": iso_utc(link.updated_at), "changedBy": None}


class NoVersion(PreconditionFailed):
    message = "No URL has this externalId, so none has a version of those in If-Match."


class LinkExists(PreconditionFailed):
    code = "already_exists"

    def __init__(self, link: Link) -> None:
        super().__init__("A URL has this externalId already.")
        self.data: Mapping[str, Any] = {"_id": str(link.public_id)}


class ChangedMeanwhile(PreconditionFailed):
    """``link`` is the current one, and ``change`` its last change since the expected version.

    ``change`` is None if the history has no such change: an update with equal values makes a version, but no entry.
    """

    def __init__(self, link: Link, change: Change | None) -> None:
        changed_at = iso_utc(link.updated_at)
        actor = None if change is None else visible_actor(change)
        by = "" if change is None else f" by {_name(change, actor)}"
        super().__init__(f"This URL was changed meanwhile{by} at {changed_at}.")
        self.data: Mapping[str, Any] = {
            "changedAt": changed_at,
            "changedBy": None if actor is None else str(actor.public_id),
        }


_NAMELESS = {AuthMethod.OPERATOR: "an operator", AuthMethod.SERVICE: "the service"}


def _name(change: Change, actor: User | None) -> str:
    if actor is None:
        if change.actor_id is None and change.via == AuthMethod.API_KEY:
            return "a key of the workspace"
        return _NAMELESS.get(AuthMethod(change.via), "a deleted account")
    return person(actor)


def url_not_found() -> NotFound:
    return NotFound("URL not found.")


def domain_not_found() -> NotFound:
    return NotFound("Domain not found.")


class DomainNotActive(Conflict):
    code = "domain_not_active"

    def __init__(self, host: str) -> None:
        super().__init__(f"The domain {host} is not active. Verify it before you create links on it.")


def require_usable(domain: Domain | None) -> Domain:
    """The domain, if it can have links. ``domain`` is one of the owner's. Raises NotFound or DomainNotActive."""
    if domain is None:
        raise domain_not_found()
    if not domain.verified:
        raise DomainNotActive(domain.host)
    return domain
