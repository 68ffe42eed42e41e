"""The filter of lists by domain."""

from __future__ import annotations

from typing import NamedTuple

from accounts.models import Workspace
from domains.addresses import BASE_ID
from domains.selectors import find_domain
from links.errors import domain_not_found
from links.selectors import fetch

# The search index does not know domains. Reading all links of a domain with at most this many is faster.
SMALL = 20_000
DEFAULT = 0
_IS_LARGE = """
SELECT EXISTS (
    SELECT FROM links_searchable WHERE owner_id = %(owner)s AND domain_id = %(domain)s OFFSET %(small)s
)
"""


class ListedDomain(NamedTuple):
    """``pk`` is the primary key of a domain, or ``DEFAULT``. ``is_small``: it has at most ``SMALL`` links."""

    pk: int
    is_small: bool


def listed_domain(owner: Workspace, domain_id: str | None) -> ListedDomain | None:
    """None without a filter. The default is the domain of the key, unless `links.listing.limited` applies it.

    Raises NotFound for an unknown id, another owner's domain, and a domain outside the limits of the key.
    """
    of_key = None if owner.key is None else owner.key.domain_id
    if domain_id is None:
        if of_key is None or (owner.key is not None and owner.key.only_own):
            return None
        pk = of_key
    elif domain_id == BASE_ID:
        if of_key is not None:
            raise domain_not_found()
        pk = DEFAULT
    else:
        domain = find_domain(owner, domain_id)
        if domain is None:
            raise domain_not_found()
        pk = domain.pk
    [[is_large]] = fetch(_IS_LARGE, {"owner": owner.pk, "domain": pk, "small": SMALL})
    return ListedDomain(pk, not is_large)
