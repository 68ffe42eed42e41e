"""Pages of links in the admin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testing.accounts.admin import Operator

MakeLink = Callable[..., dict[str, Any]]
LINKS = "links/link/"
LINK_BANS = "links/linkban/"


def codes(operator: Operator, **query: Any) -> list[str]:
    return [str(link) for link in operator.rows(LINKS, **query)]
