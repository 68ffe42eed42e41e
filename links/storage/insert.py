"""Inserts links with their codes: one with a single statement, many with COPY.

A creation is one statement, so that it is one round trip and one commit. That trades clarity for speed: it saves half
of the processor time of a creation, compared with the ORM. The statement also checks the URLs, and most links take a
shorter variant of it.

The number of statements that insert many links does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection

from accounts.code_styles import DEFAULT_LENGTH, DEFAULT_STYLE, CodeAlphabet, CodeStyle
from common.database import constraint_of, execute, fetch, prepared_cursor, text_array
from common.errors import InvalidFields, ServiceError
from links.code_claims import (
    INSERT_CODES_OF_LINK,
    CodeClaim,
    CodeKey,
    claim_codes,
    codes_of_new_link,
    release_codes,
    release_holds,
    unavailable_codes,
)
from links.codes import generate_code
from links.errors import CodeTaken, domain_not_found
from links.models import CodeKind, Link
from links.routing.addresses import Address
from links.storage.columns import (
    ALL,
    BARE,
    PLAIN,
    InsertedColumns,
    column_arrays,
    is_bare,
    is_plain,
    statement_groups,
)
from links.storage.refused_destinations import refusal_of, refused_links
from links.storage.unique_values import UniqueValue, refused_values, unique_values


@dataclass(slots=True)
class Draft:
    """An unsaved link. An imported link keeps its short code, date and clicks.

    A link without a short code gets a new one. ``aliases`` are additional codes of the link. ``addresses`` are all
    URLs to which it can lead.
    """

    link: Link
    addresses: list[Address]
    short_code: str | None = None
    aliases: tuple[str, ...] = ()
    created_at: datetime | None = None
    clicks: int = 0
    collisions: int = 0
    # The given fields by which an equal link is looked for. None: the link is always new.
    given: frozenset[str] | None = None

    @property
    def chosen_codes(self) -> list[str]:
        """The codes that the link must get; otherwise it is refused."""
        return [code for code in (self.short_code, self.link.custom_code, *self.aliases) if code is not None]

    @property
    def code_keys(self) -> list[CodeKey]:
        """The chosen codes with their domains. They include the short code on the default domain."""
        keys: list[CodeKey] = [(self.link.domain_id, code) for code in self.chosen_codes]
        if self.short_code is not None and self.link.domain_id is not None:
            keys.append((None, self.short_code))
        return keys

    def set_short_code(self, style: CodeStyle) -> None:
        """Give the link its chosen short code, or a newly generated one."""
        self.link.short_code = self.short_code or generate_code(self.chosen_codes, style, self.collisions)

    def claims(self) -> list[CodeClaim]:
        domain_id = self.link.domain_id
        return [
            *codes_of_new_link(domain_id, self.link.short_code, self.link.custom_code),
            *(CodeClaim(domain_id, alias, CodeKind.ALIAS) for alias in self.aliases),
        ]


# How a generated code of the owner looks now, on the domain of the link, or on the default domain.
_STYLE = f"""
SELECT coalesce(d.code_length, w.code_length, {DEFAULT_LENGTH}) AS code_length,
    coalesce(d.code_alphabet, w.code_alphabet, '{CodeAlphabet.FULL}') AS code_alphabet
FROM (VALUES (1)) one LEFT JOIN accounts_workspace w ON w.id = %(owner_id)s::bigint
LEFT JOIN domains_domain d ON d.id = {{domain}}
"""  # noqa: S608 # composed of constants
_STYLE_OF_LINK = _STYLE.format(domain="%(domain_id)s::bigint")
# Without joins, and without the style itself, which is seldom another one: the statement takes less time.
_OTHER_STYLE_ON_DEFAULT = f"""
SELECT FROM accounts_workspace WHERE id = %(owner_id)s::bigint AND (
    coalesce(code_length, {DEFAULT_LENGTH}) <> %(code_length)s::integer
    OR coalesce(code_alphabet, '{CodeAlphabet.FULL}') <> %(code_alphabet)s::text
)
"""  # composed of constants
_OTHER_STYLE_ON_DOMAIN = f"""
SELECT FROM ({_STYLE_OF_LINK}) style
WHERE code_length <> %(code_length)s::integer OR code_alphabet <> %(code_alphabet)s::text
"""  # composed of constants
_STYLES = f"""
SELECT chosen.id, style.* FROM unnest(%(domains)s::bigint[]) chosen (id),
LATERAL ({_STYLE.format(domain="chosen.id")}) style
"""  # noqa: S608 # composed of constants
# Of a new link, no other ban can apply.
IS_OWNER_BANNED = "EXISTS (SELECT FROM bans_ban WHERE owner_id = %(owner_id)s::bigint)"


def _insert_statement(
    columns: InsertedColumns, is_allowed: str, other_style: str, codes: str = INSERT_CODES_OF_LINK
) -> str:
    """``is_allowed``: whether no URL is refused. ``other_style`` finds a row if generated codes have another style
    than the link's. If either forbids the link, the statement returns no row: reasons would take time. ``codes``
    inserts those of ``link``.
    """
    values = ", ".join(f"%({column.name})s::{column.sql_type}" for column in columns.columns)
    return f"""
    WITH link AS (
        INSERT INTO links_link ({columns.names})
        SELECT {values} WHERE {is_allowed} AND NOT EXISTS ({other_style})
        RETURNING id, created_at, updated_at
    ), codes AS ({codes})
    SELECT id, created_at, updated_at, {IS_OWNER_BANNED} FROM link
    """  # noqa: S608 # composed of constants


# Most links have one URL and one code, on the default domain. Shorter statements take less time.
_OF_ONE_URL = f"({refusal_of('%(url)s', '%(host)s')}) IS NULL"
_INSERT_BARE = _insert_statement(
    BARE,
    _OF_ONE_URL,
    _OTHER_STYLE_ON_DEFAULT,
    f"INSERT INTO links_code (code, kind, link_id) SELECT %(short_code)s::text, '{CodeKind.SHORT}', id FROM link",  # noqa: S608 # constants
)
_INSERT_PLAIN = _insert_statement(PLAIN, _OF_ONE_URL, _OTHER_STYLE_ON_DEFAULT)
_INSERT_PLAIN_ON_DOMAIN = _insert_statement(PLAIN, _OF_ONE_URL, _OTHER_STYLE_ON_DOMAIN)
_INSERT = _insert_statement(
    ALL,
    f"""
    NOT EXISTS (
        SELECT FROM unnest(%(urls)s::text[], %(hosts)s::text[]) address (url, host)
        WHERE ({refusal_of("address.url", "address.host")}) IS NOT NULL
    )
    """,  # composed of constants
    _OTHER_STYLE_ON_DOMAIN,
)


def insert_link(
    link: Link, addresses: Sequence[Address], style: CodeStyle
) -> InvalidFields | CodeStyle | None:
    """Insert a link and complete it with the values that the database sets. ``addresses`` are all URLs of the link.

    If one of them is refused, write nothing and return the error. If generated codes have another ``style`` than that
    of the link's, write nothing and return theirs. Raises IntegrityError if a code or value is taken.
    """
    statement, values = _statement(link, addresses)
    with prepared_cursor() as cursor:
        cursor.execute(statement, {**values, "code_length": style.length, "code_alphabet": style.alphabet})
        row = cursor.fetchone()
    if row is None:
        refusal = refused_links({0: addresses}).get(0)
        if refusal is not None:
            return refusal
        [found] = fetch(_STYLE_OF_LINK, {"owner_id": link.owner_id, "domain_id": link.domain_id})
        return CodeStyle(*found)
    link.pk, link.created_at, link.updated_at, is_banned = row
    link.ban_reason = "other" if is_banned else None
    return None


def _statement(link: Link, addresses: Sequence[Address]) -> tuple[str, dict[str, Any]]:
    """The shortest statement for the link, and its values without the style."""
    is_bare_link = is_bare(link)
    if not is_bare_link and not is_plain(link):
        urls = [address.destination.href for address in addresses]
        values = {**ALL.named_values(link), "urls": urls, "hosts": [address.host for address in addresses]}
        return _INSERT, {**values, **_code_arrays(link)}
    [address] = addresses
    of_address = {"url": address.destination.href, "host": address.host}
    if is_bare_link:
        return _INSERT_BARE, {**BARE.named_values(link), **of_address}
    statement = _INSERT_PLAIN if link.domain_id is None else _INSERT_PLAIN_ON_DOMAIN
    return statement, {**PLAIN.named_values(link), **of_address, **_code_arrays(link)}


def _code_arrays(link: Link) -> dict[str, str]:
    """The parameters of `INSERT_CODES_OF_LINK`."""
    claims = codes_of_new_link(link.domain_id, link.short_code, link.custom_code)
    domains = (None if claim.domain_id is None else str(claim.domain_id) for claim in claims)
    return {
        "code_domains": text_array(domains),
        "codes": text_array(claim.code for claim in claims),
        "kinds": text_array(claim.kind for claim in claims),
    }


def is_domain_conflict(error: IntegrityError) -> bool:
    """Whether the insert failed because the domain was deleted or moved after the caller had read it."""
    return constraint_of(error).endswith("_fk_domains_domain_id")


_IDENTIFIERS = f"""
SELECT nextval(pg_get_serial_sequence('links_link', 'id')), now(), {IS_OWNER_BANNED} FROM generate_series(1, %(count)s)
"""  # noqa: S608 # composed of constants
# Prevent the deletion and the move of these domains until the commit.
_LOCK_DOMAINS = """
SELECT id FROM domains_domain
WHERE id = ANY(%(domains)s) AND owner_id = %(owner)s AND status = 'active' ORDER BY id FOR KEY SHARE
"""

Refusals = dict[int, ServiceError]
Claimed = CodeKey | UniqueValue
_Conflicts = dict[int, list[CodeClaim]]


def insert_links(drafts: Mapping[int, Draft], owner_id: int) -> Refusals:
    """Insert drafts in the caller's transaction. Return the errors of the refused ones, by their keys.

    Completes the inserted links with the values that the database sets. If several drafts claim the same code, the
    first one gets it.
    """
    refused = _refused_regardless_of_codes(drafts, owner_id, set())
    pending = {key: draft for key, draft in drafts.items() if key not in refused}
    identifiers = fetch(_IDENTIFIERS, {"count": len(pending), "owner_id": owner_id})
    for draft, (identifier, now, is_banned) in zip(pending.values(), identifiers, strict=True):
        draft.link.pk, draft.link.updated_at = identifier, now
        draft.link.ban_reason = "other" if is_banned else None
        draft.link.created_at = min(draft.created_at or now, now)
    release_holds((key for draft in pending.values() for key in draft.code_keys), owner_id=owner_id)
    styles = _styles(pending.values(), owner_id)
    inserted: list[Draft] = []
    while pending:
        conflicts = _claim_all_or_none(pending, styles)
        inserted += [draft for key, draft in pending.items() if key not in conflicts]
        taken = _refused_by_codes(pending, conflicts, owner_id)
        refused |= taken
        pending = {key: pending[key] for key in conflicts if key not in taken}
    copy_links(inserted)
    return refused


def refusals(drafts: Mapping[int, Draft], owner_id: int, claimed: set[Claimed]) -> Refusals:
    """Return the errors that an insert would return now, without writing anything.

    ``claimed`` has the codes and unique values that earlier drafts would have claimed. This adds those of these.
    """
    refused = _refused_regardless_of_codes(drafts, owner_id, claimed)
    unavailable = unavailable_codes(
        (key for draft in drafts.values() for key in draft.code_keys), owner_id=owner_id
    )
    for key, draft in drafts.items():
        if key in refused:
            continue
        taken = next((code for code in draft.code_keys if code in unavailable or code in claimed), None)
        if taken is None:
            claimed |= set(draft.code_keys)
        else:
            refused[key] = CodeTaken(taken[1])
    return refused


def _refused_regardless_of_codes(
    drafts: Mapping[int, Draft], owner_id: int, claimed: set[Claimed]
) -> Refusals:
    """Refuse drafts with a loop, a banned URL or a taken value, and drafts on a domain that is no longer active."""
    refused: Refusals = {**refused_links({key: draft.addresses for key, draft in drafts.items()})}
    active = _lock_domains({draft.link.domain_id for draft in drafts.values()} - {None}, owner_id)
    for key, draft in drafts.items():
        if draft.link.domain_id is not None and draft.link.domain_id not in active:
            refused.setdefault(key, domain_not_found())
    values = {key: unique_values(draft.link) for key, draft in drafts.items() if key not in refused}
    return refused | refused_values(values, owner_id, claimed)


def _lock_domains(domain_ids: Collection[int | None], owner_id: int) -> set[int]:
    """Lock these domains, and return the ids of those that the owner has and that are active."""
    if not domain_ids:
        return set()
    values = {"domains": list(domain_ids), "owner": owner_id}
    return {domain_id for (domain_id,) in fetch(_LOCK_DOMAINS, values)}


def _styles(drafts: Iterable[Draft], owner_id: int) -> dict[int | None, CodeStyle]:
    """How the generated codes of the drafts look, by their domains. A query only if one is needed."""
    domains = {draft.link.domain_id for draft in drafts if draft.short_code is None}
    if not domains:
        return {}
    rows = fetch(_STYLES, {"domains": list(domains), "owner_id": owner_id})
    return {domain_id: CodeStyle(*style) for domain_id, *style in rows}


def _claim_all_or_none(drafts: Mapping[int, Draft], styles: Mapping[int | None, CodeStyle]) -> _Conflicts:
    """Claim all codes of each draft, or none. Return the codes that were not available, by the keys of the drafts."""
    for draft in drafts.values():
        draft.set_short_code(styles.get(draft.link.domain_id, DEFAULT_STYLE))
    claims = {key: draft.claims() for key, draft in drafts.items()}
    successful = claim_codes({drafts[key].link.pk: codes for key, codes in claims.items()})
    conflicts: _Conflicts = {}
    for key, codes in claims.items():
        link_id = drafts[key].link.pk
        missing = [claim for claim in codes if (link_id, claim.domain_id, claim.code) not in successful]
        if missing:
            conflicts[key] = missing
            drafts[key].collisions += 1
    if conflicts:
        release_codes([drafts[key].link.pk for key in conflicts])
    return conflicts


def _refused_by_codes(drafts: Mapping[int, Draft], conflicts: _Conflicts, owner_id: int) -> Refusals:
    """Refuse drafts whose chosen codes are taken.

    The other conflicts can be resolved: a generated code was taken, or a draft that is refused had claimed the code.
    """
    missing = (claim.key for claims in conflicts.values() for claim in claims)
    unavailable = unavailable_codes(missing, owner_id=owner_id)
    refused: Refusals = {}
    for key, claims in conflicts.items():
        chosen = drafts[key].chosen_codes
        for claim in claims:
            if claim.code in chosen and claim.key in unavailable:
                refused.setdefault(key, CodeTaken(claim.code))
    return refused


_COPY = "COPY links_link (id, created_at, updated_at, {names}) FROM STDIN"
_SET_IMPORTED_CLICKS = """
UPDATE links_clickcounter c SET clicks = imported.clicks, imported = imported.clicks
FROM unnest(%(links)s::bigint[], %(clicks)s::bigint[]) imported (link_id, clicks) WHERE c.link_id = imported.link_id
"""


def copy_links(drafts: Sequence[Draft]) -> None:
    """Insert the links of complete drafts and set their imported clicks, in the caller's transaction."""
    with connection.cursor() as cursor:
        links: dict[bool, list[Link]] = {True: [], False: []}
        for draft in drafts:
            links[is_plain(draft.link)].append(draft.link)
        _copy(cursor, links[True], PLAIN)
        for group in statement_groups(links[False]):
            _copy(cursor, group, ALL)
        clicks = [(draft.link.pk, draft.clicks) for draft in drafts if draft.clicks]
        if clicks:
            cursor.execute(_SET_IMPORTED_CLICKS, column_arrays("links clicks", clicks))


def _copy(cursor: Any, links: Sequence[Link], columns: InsertedColumns) -> None:
    if not links:
        return
    statement = _COPY.format(names=columns.names)
    # Django translates errors of statements, but not those of COPY.
    with connection.wrap_database_errors, cursor.copy(statement) as copy:
        for link in links:
            copy.write_row([link.pk, link.created_at, link.updated_at, *columns.values(link)])


_LOCK_COUNTERS = "SELECT FROM links_clickcounter WHERE link_id = ANY(%s) ORDER BY link_id FOR NO KEY UPDATE"
_RAISE_IMPORTED_CLICKS = """
UPDATE links_clickcounter c
SET clicks = c.clicks + imported.clicks - c.imported, imported = imported.clicks
FROM unnest(%s::bigint[], %s::bigint[]) imported (link_id, clicks)
WHERE c.link_id = imported.link_id AND c.imported < imported.clicks
"""


def raise_imported_clicks(clicks: Mapping[int, int]) -> None:
    """Let these links have at least so many imported clicks, in the caller's transaction.

    A link's total already contains the clicks that were imported with it, so only further clicks are added. Locks the
    counters in the order of their links, to prevent deadlocks. Call it last: the counters stay locked.
    """
    execute(_LOCK_COUNTERS, [list(clicks)])
    execute(_RAISE_IMPORTED_CLICKS, [list(clicks), list(clicks.values())])
