"""Lists and totals for a key that is limited to the links that it created, perhaps on one domain only.

No counts are kept for them, so each page counts the links within the limits, up to ``COUNT_LIMIT``, in an index. With
100,000 of an owner's 1,000,000 links within the limits, a page took 16 to 48 ms on a busy machine, instead of 290 to
1,900 ms when each page sorted all of them. Searches, filters and totals still read all of them: 0.1 to 1.3 s, which
grows with their number.
"""

from __future__ import annotations

from accounts.models import Workspace
from common.pages import Page
from links.key_limits import condition_of
from links.listing import searches
from links.listing.counts import COUNT_LIMIT
from links.listing.options import ListOptions
from links.listing.scans import DIRECTIONS, SORTS, near_or_all, scan, slice_of_page
from links.selectors import LinkRow, fetch, link_rows, totals

_KEYS = {"createdAt": "l.created_at", "title": SORTS["title"].key, "clickCount": "n.clicks"}
_CLICKS = " JOIN links_clickcounter n ON n.link_id = l.id"
_TEXTS = " JOIN links_searchable s ON s.link_id = l.id"
_ACTIVITY = {None: "", True: " AND l.is_active", False: " AND NOT l.is_active"}
_COUNT = "SELECT count(*) FROM (SELECT {links} LIMIT {limit}) c"


def list_limited_links(owner: Workspace, options: ListOptions) -> Page[LinkRow]:
    """One page, as `links.listing.lists.list_links` returns it."""
    search = searches.search_for(owner, options.filters)
    condition, values = condition_of(owner.key)
    condition += _ACTIVITY[options.filters.is_active]
    values |= {"owner": owner.pk} | ({} if search is None else search.values)
    searched = "" if search is None else _TEXTS
    matching = "" if search is None else f" AND {search.match}"
    where = f"WHERE l.owner_id = %(owner)s{condition}{matching}"
    links = f"FROM links_link l{searched} {where}"
    [[matches]] = fetch(_COUNT.format(links=links, limit=COUNT_LIMIT + 1), values)
    total, is_capped = min(matches, COUNT_LIMIT), matches > COUNT_LIMIT
    if options.offset >= matches:
        return Page([], total, is_capped)
    page = slice_of_page(options, total, is_capped=is_capped)
    clicks = _CLICKS if options.sort_by == "clickCount" else ""
    everything = (
        f"SELECT l.id AS id, {_KEYS[options.sort_by]} AS key FROM links_link l{clicks}{searched} {where}"  # noqa: S608 # constants
    )
    candidates = everything
    if search is None and 2 * page.end < matches:
        # Twice as far as needed if the links are spread evenly, unless sorting all of them is cheaper.
        steps = 2 * page.end * totals(owner).links // matches
        if steps < matches:
            within = f"(SELECT true{condition} FROM links_link l WHERE l.id = s.id)"  # noqa: S608 # constants
            first = scan(SORTS[options.sort_by], "true")
            candidates = near_or_all(
                first, within, everything, direction=page.direction, steps=steps, needed=page.end
            )
    rows = link_rows(
        candidates,
        values | {"limit": page.limit, "offset": page.offset},
        direction=page.direction,
        order=DIRECTIONS[options.sort_order][0],
    )
    return Page(rows, total, is_capped)
