"""Deletes links and holds their codes, in one statement. Restores a link from the data that it keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models.functions import Now

from common.database import execute, fetch
from links.code_claims import HOLD_DAYS, CodeClaim, claim_codes, release_holds
from links.errors import CodeTaken
from links.models import ClickCounter, CodeKind, DeletedLink, Link

# Shorter than HOLD_DAYS, during which only the owner can get the codes.
UNDELETE_DAYS = 7
_BATCH = 1_000

# RETURNING has the counter as deleted, which may be newer than the snapshot of the statement.
_DELETE = f"""
WITH counters AS (
    DELETE FROM links_clickcounter WHERE link_id = ANY(%(links)s) RETURNING link_id, clicks, imported
), stored AS (
    INSERT INTO links_deletedlink (link_id, public_id, owner_id, link, codes, clicks, imported)
    SELECT l.id, l.public_id, l.owner_id, to_jsonb(l), (
        SELECT jsonb_agg(jsonb_build_object('domain_id', c.domain_id, 'code', c.code, 'kind', c.kind))
        FROM links_code c WHERE c.link_id = l.id
    ), n.clicks, n.imported
    FROM links_link l JOIN counters n ON n.link_id = l.id
), held AS (
    UPDATE links_code SET kind = 'retired', link_id = NULL, owner_id = links_link.owner_id,
        held_until = now() + interval '{HOLD_DAYS} days'
    FROM links_link WHERE links_link.id = ANY(%(links)s) AND link_id = links_link.id
    RETURNING code
), deleted AS (
    DELETE FROM links_link WHERE id = ANY(%(links)s) RETURNING accounts_record_change(
        owner_id, public_id, 'link.deleted', accounts_recorded('links_link', to_jsonb(links_link)), '{{}}'
    )
)
SELECT code FROM held
"""  # noqa: S608 # composed of constants
# Locks in the order of every statement that locks several links. Skips rows that another request is undeleting.
_DELETE_FINALLY = f"""
DELETE FROM links_deletedlink WHERE link_id IN (
    SELECT link_id FROM links_deletedlink WHERE deleted_at <= now() - interval '{UNDELETE_DAYS} days'
    ORDER BY link_id LIMIT {_BATCH} FOR UPDATE SKIP LOCKED
)
"""  # noqa: S608 # composed of constants


def delete_locked_links(link_ids: Collection[int]) -> list[str]:
    """Delete links and return their codes, which are held so that no other account can take over printed short URLs.

    The caller has locked the links in its transaction. Otherwise the statement would miss the codes that a concurrent
    rename is about to commit.
    """
    return [code for (code,) in fetch(_DELETE, {"links": list(link_ids)})]


def purge_deleted_links() -> int:
    """Delete the remaining data of links that can no longer be restored, and return their number."""
    deleted, batch = 0, _BATCH
    while batch == _BATCH:
        batch = execute(_DELETE_FINALLY)
        deleted += batch
    return deleted


# Until the commit, these rows cannot be deleted; Django has no FOR KEY SHARE. The workspace comes before the deleted
# link, as in its deletion. The stored bytes stay the same, so the setting keeps triggers from comparing them with the
# limit.
_LOCK_OWNER = """
SELECT set_config('links.is_undeleting', 'on', true) FROM accounts_workspace WHERE id = %(owner)s FOR KEY SHARE
"""
_LOCK_DOMAIN = "SELECT FROM domains_domain WHERE id = %(domain)s AND owner_id = %(owner)s FOR KEY SHARE"
_LOCK_CREATOR = "SELECT FROM accounts_user WHERE id = %(creator)s FOR KEY SHARE"
_INSERT_AGAIN = """
INSERT INTO links_link ({columns})
SELECT {values} FROM links_deletedlink d, jsonb_populate_record(NULL::links_link, d.link || jsonb_build_object(
    'domain_id', %(domain)s::bigint, 'custom_code', %(custom_code)s::text, 'creator_id', %(creator)s::bigint,
    'updated_at', greatest((d.link ->> 'updated_at')::timestamptz + interval '1 microsecond', now())
)) l WHERE d.link_id = %(link)s
"""
# Only the owner can have used the codes meanwhile.
_RESTORE_CODES = """
UPDATE links_code c SET kind = saved.kind, link_id = %(link)s, owner_id = NULL, held_until = NULL
FROM unnest(%(codes)s::text[], %(kinds)s::text[]) saved (code, kind)
WHERE {on_domain} AND c.code = saved.code AND c.code = ANY(%(codes)s) AND c.kind = 'retired'
  AND c.owner_id = %(owner)s
RETURNING c.code
"""
_ON_DOMAIN = {True: "c.domain_id IS NULL", False: "c.domain_id = %(domain)s"}
_RECORD = """
SELECT accounts_record_change(
    owner_id, public_id, 'link.undeleted', '{}', accounts_recorded('links_link', to_jsonb(l)), changed_at => updated_at
) FROM links_link l WHERE id = %(link)s
"""
_COLUMNS = [field.column for field in Link._meta.concrete_fields]


class _Code(NamedTuple):
    domain_id: int | None
    code: str
    kind: str


def undelete(public_id: UUID, *, owner_id: int) -> list[str] | None:
    """Restore a link and return its codes. None if the owner has deleted no such link in the last UNDELETE_DAYS.

    Raises CodeTaken if the owner has given one of its codes to another link. If the link's domain has been deleted
    or moved, the link moves to the default domain like others, and loses custom codes that are taken there. It keeps
    its creator unless that account has been deleted.
    """
    fetch(_LOCK_OWNER, {"owner": owner_id})
    kept = DeletedLink.objects.select_for_update().filter(public_id=public_id, owner_id=owner_id)
    deleted = kept.filter(deleted_at__gt=Now() - timedelta(days=UNDELETE_DAYS)).first()
    if deleted is None:
        return None
    link_id = deleted.link_id
    link: dict[str, Any] = deleted.link
    codes = [_Code(**code) for code in deleted.codes]
    domain_id, custom_code, creator_id = link["domain_id"], link["custom_code"], link.get("creator_id")
    codes_of_lost_domain: list[_Code] = []
    if domain_id is not None and not fetch(_LOCK_DOMAIN, {"domain": domain_id, "owner": owner_id}):
        codes_of_lost_domain = [code for code in codes if code.domain_id is not None]
        codes = [code._replace(kind=CodeKind.SHORT.value) for code in codes if code.domain_id is None]
        domain_id = None
    if creator_id is not None and not fetch(_LOCK_CREATOR, {"creator": creator_id}):
        creator_id = None
    _restore_codes(link_id, codes, owner_id)
    restored = [code.code for code in codes]
    if codes_of_lost_domain:
        restored += (claimed := _claim_on_default_domain(link_id, codes_of_lost_domain, owner_id))
        custom_code = custom_code if custom_code in {*claimed, link["short_code"]} else None
    # A column that was added after the deletion gets its default.
    columns = [name for name in _COLUMNS if name in link]
    insert = _INSERT_AGAIN.format(
        columns=", ".join(columns), values=", ".join(f"l.{name}" for name in columns)
    )
    values = {"link": link_id, "domain": domain_id, "custom_code": custom_code, "creator": creator_id}
    # PostgreSQL checks the foreign key of the codes at the commit.
    execute(insert, values)
    # The trigger of links_link has inserted the counter. The clicks include those counted since the deletion.
    ClickCounter.objects.filter(link_id=link_id).update(clicks=deleted.clicks, imported=deleted.imported)
    execute(_RECORD, {"link": link_id})
    # Triggers restore the related rows.
    deleted.delete()
    return restored


def _restore_codes(link_id: int, codes: Iterable[_Code], owner_id: int) -> None:
    by_domain: dict[int | None, dict[str, str]] = defaultdict(dict)
    for code in codes:
        by_domain[code.domain_id][code.code] = code.kind
    for domain_id, kinds in by_domain.items():
        values = {
            "link": link_id,
            "owner": owner_id,
            "domain": domain_id,
            "codes": list(kinds),
            "kinds": list(kinds.values()),
        }
        restored = {
            code for (code,) in fetch(_RESTORE_CODES.format(on_domain=_ON_DOMAIN[domain_id is None]), values)
        }
        for taken in kinds.keys() - restored:
            raise CodeTaken(taken)


def _claim_on_default_domain(link_id: int, codes: Iterable[_Code], owner_id: int) -> list[str]:
    """Claim the custom codes and aliases of a deleted domain on the default domain. Returns the successful ones."""
    claims = [
        CodeClaim(None, code.code, CodeKind(code.kind)) for code in codes if code.kind in {"custom", "alias"}
    ]
    release_holds([claim.key for claim in claims], owner_id=owner_id)
    return [code for _, _, code in claim_codes({link_id: claims})]
