"""Lists of an owner's links, in handwritten SQL: at a million links the query shape decides the speed.

Trades clarity for speed: several ways to find a page, of which estimates choose the quickest. bench/results.csv,
"Links", has the times. Queries for candidates of a page return the id and the sort key of links, to be sorted and cut.

`list_limited_links` is for a key that is limited to the links that it created, perhaps on one domain only. No counts
are kept for them, so each page counts the links within the limits, up to ``COUNT_LIMIT``, in an index. With 100,000 of
an owner's 1,000,000 links within the limits, a page took 16 to 48 ms on a busy machine, instead of 290 to 1,900 ms
when each page sorted all of them. Searches, filters and totals still read all of them: 0.1 to 1.3 s, which grows with
their number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from accounts.models import Workspace
from common.database import fetch
from common.pages import Key, Page, Window, page_of
from links import list_counts, searches
from links.availability import Status
from links.key_limits import condition_of
from links.list_counts import COUNT_LIMIT
from links.searches import ListOptions, Matches, Search
from links.selectors import LinkRow, count_links, link_rows, totals


class Sort(NamedTuple):
    """How to scan an owner's links in order: ``source`` has an index on the owner, the key and the identifier."""

    source: str
    owner: str
    key: str
    identifier: str
    is_archived: str
    sql_type: str
    # Whether archived links are apart in it.
    is_split: bool = False

    def narrowed(self, condition: str) -> Sort:
        """The same scan, of the rows that meet a condition. The alias of ``source`` is its last letter."""
        source = f"(SELECT * FROM {self.source} WHERE {condition}) {self.source[-1]}"  # noqa: S608 # constants
        return self._replace(source=source)

    def beyond(self, direction: str | None) -> str:
        """The end of a condition: rows after a place in this direction. None: all of them."""
        return "" if direction is None else _beyond(self.key, self.identifier, self.sql_type, direction)


def _beyond(key: str, identifier: str, sql_type: str, direction: str) -> str:
    sign = "<" if direction == "DESC" else ">"
    return f" AND ({key}, {identifier}) {sign} (%(place_key)s::{sql_type}, %(place_id)s::bigint)"


SORTS = {
    "createdAt": Sort(
        "links_searchable s", "s.owner_id", "s.created_at", "s.link_id", "s.is_archived", "timestamptz"
    ),
    "title": Sort(
        "links_link l",
        "l.owner_id",
        "(coalesce(l.title, '') COLLATE \"C\")",
        "l.id",
        "l.is_archived",
        "text",
        True,
    ),
    "clickCount": Sort(
        "links_clickcounter n", "n.owner_id", "n.clicks", "n.link_id", "n.is_archived", "bigint"
    ),
}
BY_DATE = SORTS["createdAt"]
# Indexes of links that meet a condition have this order.
_BY_DATE_OF_LINKS = Sort(
    "links_link l", "l.owner_id", "l.created_at", "l.id", "l.is_archived", "timestamptz", is_split=True
)
# Forward and backward.
DIRECTIONS = {"asc": ("ASC", "DESC"), "desc": ("DESC", "ASC")}
# Match the first links in sort order; if too few match, match all links.
_NEAR_OR_ALL = """
WITH near AS MATERIALIZED (
    SELECT s.id, s.key FROM ({first} ORDER BY key {direction}, id {direction} LIMIT {steps}) s
    WHERE {match} LIMIT {needed}
)
SELECT id, key FROM near WHERE (SELECT count(*) FROM near) = {needed}
UNION ALL
SELECT id, key FROM ({everything}) a WHERE (SELECT count(*) FROM near) < {needed}
"""


class Slice(NamedTuple):
    """The rows of a page, counted from the end of the list that ``direction`` starts at."""

    direction: str
    offset: int
    limit: int

    @property
    def end(self) -> int:
        return self.offset + self.limit


def slice_of_page(options: ListOptions, total: int, *, is_capped: bool) -> Slice:
    """The rows to read for a page of a list with ``total`` links, or more if it ``is_capped``."""
    forward, backward = DIRECTIONS[options.sort_order]
    window = options.window
    offset, limit = window.offset, window.limit
    if window.place is not None or is_capped or offset <= total // 2:
        return Slice(backward if window.is_backward else forward, offset, window.rows)
    # Read the second half from the other end, so that the last page costs as little as the first.
    return Slice(backward, max(0, total - offset - limit), min(limit, total - offset))


class Scan(NamedTuple):
    """Reads the first ``needed`` candidates in sort order from an index. ``is_archived``: None for all links.

    ``is_walk``: only those after the place.
    """

    sort: Sort
    is_archived: bool | None
    direction: str
    needed: int
    is_walk: bool

    def query(self, match: str = "true", columns: str = "") -> str:
        """``match`` is a condition on `links_searchable s`, whose ``columns`` are read, too."""
        sort = self.sort
        if self.is_archived is not None:
            return self._part(match, columns, f"{'' if self.is_archived else 'NOT '}{sort.is_archived}")
        if not sort.is_split:
            return self._part(match, columns, "true")
        order = f" ORDER BY key {self.direction}, id {self.direction} LIMIT {self.needed}"
        parts = (self._part(match, columns, f"{negation}l.is_archived") for negation in ("NOT ", ""))
        return " UNION ALL ".join(f"({part}{order})" for part in parts)

    def _part(self, match: str, columns: str, archived: str) -> str:
        sort, source = self.sort, self.sort.source
        if sort is not BY_DATE and (match != "true" or columns):
            source += f" JOIN links_searchable s ON s.link_id = {sort.identifier}"
        return (
            f"SELECT {sort.identifier} AS id, {sort.key} AS key{columns} FROM {source}"  # noqa: S608 # constants
            f" WHERE {sort.owner} = %(owner)s AND {archived}"
            f"{sort.beyond(self.direction if self.is_walk else None)} AND {match}"
        )


def fetch_candidates(sort: Sort, identifiers: str, direction: str | None) -> str:
    """A query that fetches a few candidates, to be sorted later. OFFSET 0 stops the planner from an index scan.

    With a ``direction``, only those after the place.
    """
    return (
        f"SELECT {sort.identifier} AS id, {sort.key} AS key FROM {sort.source}"  # noqa: S608 # constants
        f" WHERE {sort.identifier} = ANY({identifiers}){sort.beyond(direction)} OFFSET 0"
    )


def near_or_all(first: str, match: str, everything: str, *, direction: str, steps: int, needed: int) -> str:
    """A query for the first ``needed`` links that match, if they are among the first ``steps`` of ``first``.

    Otherwise ``everything``. ``match`` is a condition on a row ``s`` of ``first``.
    """
    return _NEAR_OR_ALL.format(
        first=first, match=match, everything=everything, direction=direction, steps=steps, needed=needed
    )


# A sequential read of this many links takes as long as one random read.
_SEQUENTIAL_READS = 16
# Fetch and sort this many links of a period, or archived ones; of more, a scan in sort order soon finds a page.
_FETCHED_OF_PERIOD = 20_000


def list_links(owner: Workspace, options: ListOptions) -> Page[LinkRow]:
    """One page, in two queries: one for the total, one for the rows.

    A text that may be a short URL takes one more query to look it up, a status, creator or password one, and a domain
    one or two. Counting more than ``FETCH_LIMIT`` hits takes one or two more, unless the count is kept.
    """
    sort, forward = SORTS[options.sort_by], DIRECTIONS[options.sort_order][0]
    is_active, is_archived = options.filters.is_active, options.filters.is_archived
    values: dict[str, Any] = {"owner": owner.pk}
    search = searches.search_for(owner, options.filters)
    matches, by_status = None, False
    if search is None:
        total, is_capped = count_links(owner, is_active=is_active, is_archived=is_archived), False
    else:
        values |= search.values
        if search.column:
            total, is_capped, _ = list_counts.total_by_column(search, values)
        else:
            matches = searches.find(search, values, forward if sort is BY_DATE else "DESC")
            total, is_capped, by_status = list_counts.total(search, matches, values)
            values["ids"] = matches.ids
    window = options.window
    if window.offset >= total and not is_capped:
        return Page([], total, is_capped)
    page = slice_of_page(options, total, is_capped=is_capped)
    is_walk = window.place is not None
    onward = page.direction if is_walk else None
    if search is None:
        candidates = _candidates_of_all(sort, options, page, total)
    elif matches is None:
        candidates = _candidates_by_column(sort, search, options, page, total)
    elif by_status and Status.ACTIVE in search.statuses and _reads_many(sort, page):
        # Find all links that are not active before a page of the others.
        closed = searches.CLOSED.format(listed=searches.in_list(None, is_archived, "l"))
        open_links = sort.narrowed(f"{sort.identifier} NOT IN {closed}")
        candidates = Scan(open_links, is_archived, page.direction, page.end, is_walk).query()
    else:
        are_few = (search.is_by_date_alone or search.are_disabled) and total <= _FETCHED_OF_PERIOD
        if sort is not BY_DATE and (are_few or search.is_by_small_domain):
            candidates = fetch_candidates(sort, f"ARRAY({searches.matching(search)})", onward)
        else:
            candidates = _search_candidates(
                sort,
                search,
                matches,
                page,
                is_forward=page.direction == forward,
                is_walk=is_walk,
                values=values,
            )
    values |= _values_of(window, page)
    rows = link_rows(candidates, values, direction=page.direction, order=forward)
    if is_capped and rows and not is_walk:
        # A page that is not full is the last one, so the total is known.
        shown = min(len(rows), window.limit)
        total, is_capped = max(total, page.offset + shown), shown == window.limit
    return page_of(rows, window, total, _key_of, is_capped=is_capped)


def _values_of(window: Window, page: Slice) -> dict[str, Any]:
    values: dict[str, Any] = {"limit": page.limit, "offset": page.offset}
    if window.place is not None:
        values["place_key"], values["place_id"] = window.place.key
    return values


def _key_of(row: LinkRow) -> Key:
    return (row.key, row.pk)


def _reads_many(sort: Sort, page: Slice) -> bool:
    """Whether a page is far from the first one, or in an order in which the planner would read all links for any."""
    return sort is not BY_DATE or page.end > _FETCHED_OF_PERIOD


def _candidates_of_all(sort: Sort, options: ListOptions, page: Slice, total: int) -> str:
    """A query for the candidates of a page without a search."""
    is_active, is_archived = options.filters.is_active, options.filters.is_archived
    is_walk = options.window.place is not None
    # Do not scan all links for a few matches.
    few = _FETCHED_OF_PERIOD if is_archived else 0 if is_active is None else searches.FETCH_LIMIT
    if total <= few:
        match = searches.in_list(is_active, is_archived)
        return fetch_candidates(sort, f"ARRAY({searches.owned(match)})", page.direction if is_walk else None)
    match = searches.in_list(is_active, None)
    return Scan(sort, is_archived, page.direction, page.end, is_walk).query(match)


def _candidates_by_column(sort: Sort, search: Search, options: ListOptions, page: Slice, total: int) -> str:
    """A query for the candidates of a page of a search with a ``column``."""
    is_walk = options.window.place is not None
    if sort is not BY_DATE and total <= _FETCHED_OF_PERIOD:
        listed = searches.in_list(None, search.is_archived, "l")
        links = f"SELECT id FROM links_link l WHERE owner_id = %(owner)s AND {search.column} AND {listed}"  # noqa: S608 # constants
        return fetch_candidates(sort, f"ARRAY({links})", page.direction if is_walk else None)
    condition = search.column
    if sort is SORTS["clickCount"]:
        condition = f"(SELECT {condition} FROM links_link l WHERE l.id = {sort.identifier})"  # noqa: S608 # constants
    by = _BY_DATE_OF_LINKS if sort is BY_DATE else sort
    return Scan(by.narrowed(condition), search.is_archived, page.direction, page.end, is_walk).query()


def _search_candidates(
    sort: Sort,
    search: Search,
    matches: Matches,
    page: Slice,
    *,
    is_forward: bool,
    is_walk: bool,
    values: dict[str, Any],
) -> str:
    """A query for the candidates of a page. ``is_forward``: its direction is that of the matches.

    ``is_walk``: only those after the place.
    """
    by_date = sort is BY_DATE
    are_first = by_date and is_forward and matches.are_first and not is_walk
    onward = page.direction if is_walk else None
    if search.has_few_candidates and not matches.is_complete:
        return fetch_candidates(sort, f"ARRAY({searches.matching(search)})", onward)
    if matches.is_complete or (are_first and page.end <= searches.FETCH_LIMIT):
        return fetch_candidates(sort, "%(ids)s::bigint[]", onward)
    # The share of matches among the first links says nothing about the other end of the list.
    is_common = matches.near > searches.FETCH_LIMIT and is_forward
    if by_date and search.uses_index_by_period and not is_common:
        return searches.matching_by_period(search, page.direction, page.end, sort.beyond(onward))
    if not search.uses_index or (by_date and is_common):
        return Scan(sort, search.is_archived, page.direction, page.end, is_walk).query(search.match)
    all_matches = fetch_candidates(sort, f"ARRAY({searches.matching(search)})", onward)
    # Scan twice as far as needed if matches are spread evenly, unless fetching all matches is cheaper.
    steps = 2 * page.end * searches.REACH // max(matches.near, 1)
    # The links that `near` is a sample of. A domain with more than are counted is assumed to have nearly all.
    population = matches.links
    if search.domain is not None:
        on_domain = list_counts.links_on_domain(search, matches, values)
        population = on_domain if on_domain <= list_counts.COUNT_LIMIT else matches.links
        if not by_date:
            steps = steps * matches.links // max(population, 1)
    expected = population * matches.near // searches.REACH
    if steps > expected * (_SEQUENTIAL_READS if by_date else 1):
        return all_matches
    near = f"true{search.on_domain if by_date else ''}"
    first = Scan(sort, search.is_archived, page.direction, steps, is_walk).query(near, ", s.*")
    return near_or_all(
        first, search.match, all_matches, direction=page.direction, steps=steps, needed=page.end
    )


_LIMITED_KEYS = {"createdAt": "l.created_at", "title": SORTS["title"].key, "clickCount": "n.clicks"}
_CLICKS = " JOIN links_clickcounter n ON n.link_id = l.id"
_TEXTS = " JOIN links_searchable s ON s.link_id = l.id"
_COUNT_LIMITED = "SELECT count(*) FROM (SELECT {links} LIMIT {limit}) c"


def list_limited_links(owner: Workspace, options: ListOptions) -> Page[LinkRow]:
    """One page, as `links.lists.list_links` returns it."""
    search = searches.search_for(owner, options.filters)
    condition, values = condition_of(owner.key)
    is_archived = options.filters.is_archived
    condition += f" AND {searches.in_list(options.filters.is_active, is_archived, 'l')}"
    values |= {"owner": owner.pk} | ({} if search is None else search.values)
    searched = "" if search is None else _TEXTS
    matching = "" if search is None else f" AND {search.match}"
    where = f"WHERE l.owner_id = %(owner)s{condition}{matching}"
    links = f"FROM links_link l{searched} {where}"
    [[matches]] = fetch(_COUNT_LIMITED.format(links=links, limit=COUNT_LIMIT + 1), values)
    total, is_capped = min(matches, COUNT_LIMIT), matches > COUNT_LIMIT
    window = options.window
    if window.offset >= matches:
        return Page([], total, is_capped)
    page = slice_of_page(options, total, is_capped=is_capped)
    is_walk = window.place is not None
    clicks = _CLICKS if options.sort_by == "clickCount" else ""
    key = _LIMITED_KEYS[options.sort_by]
    everything = f"SELECT l.id AS id, {key} AS key FROM links_link l{clicks}{searched} {where}"  # noqa: S608 # constants
    if is_walk:
        everything += _beyond(key, "l.id", SORTS[options.sort_by].sql_type, page.direction)
    candidates = everything
    if search is None and 2 * page.end < matches:
        # Twice as far as needed if the links are spread evenly, unless sorting all of them is cheaper.
        steps = 2 * page.end * totals(owner).links // matches
        if steps < matches:
            within = f"(SELECT true{condition} FROM links_link l WHERE l.id = s.id)"  # noqa: S608 # constants
            first = Scan(SORTS[options.sort_by], is_archived, page.direction, steps, is_walk).query()
            candidates = near_or_all(
                first, within, everything, direction=page.direction, steps=steps, needed=page.end
            )
    rows = link_rows(
        candidates,
        values | _values_of(window, page),
        direction=page.direction,
        order=DIRECTIONS[options.sort_order][0],
    )
    return page_of(rows, window, total, _key_of, is_capped=is_capped)
