"""Where a browser may go after a login."""

from __future__ import annotations

import re

# A login must not redirect to a short link: its destination may be any site, and people would trust it. A segment that
# begins with a dot, or contains a percent sign or a backslash, could leave these folders, because browsers resolve it.
_OWN_PAGE = re.compile(
    r"/(?:accounts|admin|dashboard)(?:/[\w~=+,:@-][\w.~=+,:@-]*)*/?(?:\?[^\s\\\x00-\x1f\x7f]*)?", re.ASCII
)


def is_own_page(target: str) -> bool:
    """Whether ``target`` is the path of a page of the service, with or without a query."""
    return _OWN_PAGE.fullmatch(target) is not None
