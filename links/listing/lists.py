"""Lists of an owner's links, in handwritten SQL: at a million links the query shape decides the speed.

Trades clarity for speed: several ways to find a page, of which estimates choose the quickest. bench/results.md,
"Links", has the times.
"""

from __future__ import annotations

from typing import Any

from accounts.models import Workspace
from common.pages import Page
from links.listing import counts, searches
from links.listing.options import ListOptions
from links.listing.scans import (
    BY_DATE,
    DIRECTIONS,
    SORTS,
    Slice,
    Sort,
    fetch_candidates,
    near_or_all,
    scan,
    slice_of_page,
)
from links.listing.searches import Matches, Search
from links.selectors import LinkRow, link_rows, totals

# A sequential read of this many links takes as long as one random read.
_SEQUENTIAL_READS = 16
# Fetch and sort this many links of a period; of more, a scan in sort order soon finds a page.
_FETCHED_OF_PERIOD = 20_000


def list_links(owner: Workspace, options: ListOptions) -> Page[LinkRow]:
    """One page, in two queries: one for the total, one for the rows.

    A text that may be a short URL takes one more query to look it up, and a domain one or two. Counting more than
    ``FETCH_LIMIT`` hits takes one or two more, unless the count is kept.
    """
    sort, forward = SORTS[options.sort_by], DIRECTIONS[options.sort_order][0]
    is_active = options.filters.is_active
    values: dict[str, Any] = {"owner": owner.pk}
    search = searches.search_for(owner, options.filters)
    if search is not None:
        values |= search.values
        matches = searches.find(search, values, forward if sort is BY_DATE else "DESC")
        total, is_capped = counts.total(search, matches, values)
        values["ids"] = matches.ids
    else:
        sums = totals(owner)
        total = {None: sums.links, True: sums.active_links, False: sums.links - sums.active_links}[is_active]
        is_capped = False
    if options.offset >= total and not is_capped:
        return Page([], total, is_capped)
    page = slice_of_page(options, total, is_capped=is_capped)
    if search is not None:
        are_few = search.is_by_date_alone and total <= _FETCHED_OF_PERIOD
        if sort is not BY_DATE and (are_few or search.is_by_small_domain):
            candidates = fetch_candidates(sort, f"ARRAY({searches.matching(search)})")
        else:
            candidates = _search_candidates(
                sort, search, matches, page, is_forward=page.direction == forward, values=values
            )
    else:
        active = searches.activity(is_active)
        # Do not scan all links for a few matches.
        few = is_active is not None and total <= searches.FETCH_LIMIT
        candidates = fetch_candidates(sort, f"ARRAY({searches.owned(active)})") if few else scan(sort, active)
    values |= {"limit": page.limit, "offset": page.offset}
    rows = link_rows(candidates, values, direction=page.direction, order=forward)
    if is_capped and rows:
        # A page that is not full is the last one, so the total is known.
        total, is_capped = max(total, page.offset + len(rows)), len(rows) == page.limit
    return Page(rows, total, is_capped)


def _search_candidates(
    sort: Sort,
    search: Search,
    matches: Matches,
    page: Slice,
    *,
    is_forward: bool,
    values: dict[str, Any],
) -> str:
    """A query for the candidates of a page. ``is_forward``: its direction is that of the matches."""
    by_date = sort is BY_DATE
    are_first = by_date and is_forward and matches.are_first
    if matches.is_complete or (are_first and page.end <= searches.FETCH_LIMIT):
        return fetch_candidates(sort, "%(ids)s::bigint[]")
    # The share of matches among the first links says nothing about the other end of the list.
    is_common = matches.near > searches.FETCH_LIMIT and is_forward
    if by_date and search.uses_index_by_period and not is_common:
        return searches.matching_by_period(search, page.direction, page.end)
    if not search.uses_index or (by_date and is_common):
        return scan(sort, search.match)
    all_matches = fetch_candidates(sort, f"ARRAY({searches.matching(search)})")
    # Scan twice as far as needed if matches are spread evenly, unless fetching all matches is cheaper.
    steps = 2 * page.end * searches.REACH // max(matches.near, 1)
    # The links that `near` is a sample of. A domain with more than are counted is assumed to have nearly all.
    population = matches.links
    if search.domain is not None:
        on_domain = counts.links_on_domain(search, matches, values)
        population = on_domain if on_domain <= counts.COUNT_LIMIT else matches.links
        if not by_date:
            steps = steps * matches.links // max(population, 1)
    expected = population * matches.near // searches.REACH
    if steps > expected * (_SEQUENTIAL_READS if by_date else 1):
        return all_matches
    first = scan(sort, f"true{search.on_domain if by_date else ''}", ", s.*")
    return near_or_all(
        first, search.match, all_matches, direction=page.direction, steps=steps, needed=page.end
    )
