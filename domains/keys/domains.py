"""The domain of a key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction

from accounts.models import Workspace
from common.errors import NotFound
from common.ids import parse_public_id
from domains.selectors import domains_of


@contextmanager
def locked_domain(owner: Workspace, fields: dict[str, Any]) -> Iterator[None]:
    """Replace the API id in ``domain_id``, if any, by the primary key of the domain, and lock the domain.

    The lock comes before that of the key, as in a deletion of the domain. Raises NotFound for a domain of others.
    """
    with transaction.atomic():
        if fields.get("domain_id") is not None:
            identifier = parse_public_id(fields["domain_id"])
            domain = None
            if identifier is not None:
                domains = domains_of(owner).select_for_update(no_key=True)
                domain = domains.filter(public_id=identifier).first()
            if domain is None:
                raise NotFound("Domain not found.")
            fields["domain_id"] = domain.pk
        yield
