"""The limits of a caller's key on links: the key's domain, or the links that the key created."""

from __future__ import annotations

from typing import Any

from accounts.models import Workspace
from accounts.rights import CallerKey, Scope
from common.http.short_urls import BASE_ID
from domains.models import Domain
from domains.selectors import find_domain
from links.errors import domain_not_found, require_usable
from links.models import limits_of

_CONDITIONS = {"domain_id": " AND l.domain_id = %(key_domain)s", "key_id": " AND l.key_id = %(key_id)s"}


def condition_of(key: CallerKey | None) -> tuple[str, dict[str, Any]]:
    """The end of a condition on ``links_link l``, and the values of its parameters. Empty without limits."""
    text = "".join(_CONDITIONS[name] for name in limits_of(key))
    return text, {} if key is None else {"key_domain": key.domain_id, "key_id": key.id}


def may_read_links(owner: Workspace) -> bool:
    """Whether the caller's key has the scope to read links, which that to write them does not include."""
    return owner.key is None or bool(owner.key.scopes & Scope.URLS_READ.bit)


def usable_domain(owner: Workspace, domain_id: str | None) -> Domain | None:
    """The domain of a new link by its id; None for the default domain. Raises NotFound or DomainNotActive."""
    chosen = chosen_domain(owner, domain_id)
    return None if chosen in (None, BASE_ID) else require_usable(find_domain(owner, str(chosen)))


def chosen_domain(owner: Workspace, domain_id: str | None) -> str | None:
    """The domain of a new link: that of the key if the caller names none.

    Raises NotFound if the caller names the default domain, and the key is limited to another one.
    """
    if owner.key is None or owner.key.domain_id is None:
        return domain_id
    if domain_id is not None and domain_id != BASE_ID:
        # `visible_to` has the key's domain only.
        return domain_id
    domain = Domain.objects.visible_to(owner).first() if domain_id is None else None
    if domain is None:
        raise domain_not_found()
    return str(domain.public_id)
