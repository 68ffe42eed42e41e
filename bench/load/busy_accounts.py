"""Loads the links of a busy account: many similar ones, with terms and tags of known frequency."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management import call_command
from django.db import connection

from accounts.models import User, Workspace
from accounts.services import create_account
from common.ids import new_public_id
from domains.models import Domain, DomainStatus
from links.codes import CODE_ALPHABET
from links.selectors import tag_key

# The links were created within so many days, evenly.
DAYS = 1000
FEW, SOME = 100, 20_000

# Number of links in a million whose title contains the word.
FREQUENT = {
    "quokka": 10,
    "zanzibar": 100,
    "marzipan": 1_000,
    "lighthouse": 10_000,
    "harvest": 50_000,
    "spring": 300_000,
    "東京": 2_000,
    "qx~": 200,
}
# Only in links of the largest owner: searches of other owners must not pay for them.
ELSEWHERE = {"festival": 200_000}
# Only in the oldest links: a scan that starts at the newest finds them last.
OLD = {"migrated": 500, "imported": 5_000, "legacy": 50_000}
TAGS = {"Marketing": 300_000, "Q3 launch": 5_000, "board": 50}
_VOCABULARY = """
    account agenda annual apparel article autumn award banner basic beta bonus book brief budget business calendar
    campaign career catalog charity checkout city client cloud community contact contest coupon course customer data
    deal delivery demo design digital discount download early edition email event exclusive factory family feature
    finance flash form free garden gift global green guide health holiday home hotel index insight invite journal
    kitchen landing latest launch learn library limited local loyalty manual market media meeting member mobile
    monthly music network news offer office online open order outlet partner party photo policy press preview price
    product profile program project promo public quarter recipe referral register release report review sale sample
    school season series service shop signup special sport staff store story student summer support survey team
    ticket toolkit tour trade training travel trial update upgrade video vintage visit voucher webinar weekly winter
"""
WORDS = _VOCABULARY.split()
HOSTS = ["www.example.com", "shop.example.com", "blog.example.org", "example.net", "news.example.co.uk"]

# Every so many links of the largest owner are on the domain.
DOMAINS = {"many.example.com": 10, "few.example.com": 10_000}
_COLUMNS = [
    "public_id",
    "owner_id",
    "domain_id",
    "short_code",
    "custom_code",
    "original_url",
    "destination",
    "title",
    "description",
    "tags",
    "tag_keys",
    "is_active",
    "utm",
    "allowed_countries",
    "blocked_countries",
    "allowed_devices",
    "redirect_type",
    "created_at",
    "updated_at",
]


def load(links: int) -> dict[str, User]:
    """Load the links, unless an earlier run has done so. Return the owners by name."""
    call_command("migrate", verbosity=0)
    names = {"many": links, "some": min(SOME, links), "few": FEW}
    if User.objects.count() < len(names) + 1:
        connection.cursor().execute("TRUNCATE accounts_user CASCADE")
        create_account(email="creator@example.com", password="not used here")
        started = time.perf_counter()
        with _without_indexes():
            for name, size in names.items():
                account = create_account(email=f"{name}@example.com", password="not used here")
                domains = _domains(account.workspace) if name == "many" else {}
                _copy(account.user, size, random.Random(size), domains)
        _finish()
        print(f"loaded in {time.perf_counter() - started:.0f} s")
    return {name: User.objects.get(email=f"{name}@example.com") for name in [*names, "creator"]}


@contextmanager
def _without_indexes() -> Iterator[None]:
    """Rebuild indexes after loading, which is many times faster than maintaining them for a million rows."""
    with connection.cursor() as cursor:
        cursor.execute("SET maintenance_work_mem = '512MB'")
        cursor.execute(
            "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
            " WHERE indrelid IN ('links_link'::regclass, 'links_searchable'::regclass) AND NOT indisunique"
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
        yield
        for name, definition in indexes:
            started = time.perf_counter()
            cursor.execute(definition)
            print(f"  index {name} built in {time.perf_counter() - started:.1f} s")


def _domains(owner: Workspace) -> dict[int, int]:
    """The numbers of ``DOMAINS`` by primary key."""
    return {
        Domain.objects.create(owner=owner, domain=host, host=host, status=DomainStatus.ACTIVE).pk: every
        for host, every in DOMAINS.items()
    }


def _copy(owner: User, size: int, rng: random.Random, domains: dict[int, int]) -> None:
    command = f"COPY links_link ({', '.join(_COLUMNS)}) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(command) as copy:
        for row in _rows(owner, size, rng, domains):
            copy.write_row([row[column] for column in _COLUMNS])


def _rows(owner: User, size: int, rng: random.Random, domains: dict[int, int]) -> Iterator[dict[str, Any]]:
    codes: set[str] = set()
    first = datetime.now(UTC) - timedelta(days=DAYS)
    for number in range(size):
        code = "".join(rng.choices(CODE_ALPHABET, k=7))
        while code in codes:
            code = "".join(rng.choices(CODE_ALPHABET, k=7))
        codes.add(code)
        words = rng.choices(WORDS, k=rng.randint(2, 6))
        words += [word for word, frequency in FREQUENT.items() if rng.random() < frequency / 1e6]
        words += [word for word, frequency in OLD.items() if number / size < frequency / 1e6]
        if size > SOME:
            words += [word for word, frequency in ELSEWHERE.items() if rng.random() < frequency / 1e6]
        rng.shuffle(words)
        tags = [tag for tag, frequency in TAGS.items() if rng.random() < frequency / 1e6]
        path = "/".join(rng.choices(WORDS, k=rng.randint(1, 4)))
        query = f"?id={rng.randrange(10**6)}&ref={rng.choice(WORDS)}" if rng.random() < 0.4 else ""
        created = first + timedelta(days=DAYS * number / size)
        url = f"https://{rng.choice(HOSTS)}/{path}{query}"
        tags += rng.choices(WORDS, k=rng.randint(0, 3))
        yield {
            "public_id": new_public_id(),
            "owner_id": owner.pk,
            "domain_id": next(
                (domain for domain, every in domains.items() if number % every == every // 2), None
            ),
            "short_code": code,
            "custom_code": f"{rng.choice(WORDS)}{owner.pk}x{number}" if rng.random() < 0.1 else None,
            "original_url": url,
            "destination": url,
            "title": None if rng.random() < 0.05 else " ".join(words).capitalize(),
            "description": " ".join(rng.choices(WORDS, k=12)) if rng.random() < 0.2 else None,
            "tags": tags,
            "tag_keys": sorted({tag_key(tag) for tag in tags}),
            "is_active": rng.random() >= 0.02,
            "utm": "{}",
            "allowed_countries": [],
            "blocked_countries": [],
            "allowed_devices": [],
            "redirect_type": 302,
            "created_at": created,
            "updated_at": created,
        }


def _finish() -> None:
    with connection.cursor() as cursor:
        for short, kind in (("short_code", "short"), ("custom_code", "custom")):
            cursor.execute(
                f"INSERT INTO links_code (domain_id, code, kind, link_id)"
                f" SELECT domain_id, {short}, '{kind}', id FROM links_link WHERE {short} IS NOT NULL"
            )
        # Most clicks belong to a few links (Zipf).
        cursor.execute("SELECT setseed(0.5)")
        cursor.execute(
            "UPDATE links_clickcounter SET clicks = least(1e7, 5 / (1 - random()) ^ 1.2)::bigint WHERE random() < 0.9"
        )
        cursor.execute("VACUUM (ANALYZE)")
        cursor.execute("CHECKPOINT")


def print_sizes() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, pg_size_pretty(pg_relation_size(c.oid)), c.relkind = 'i'"
            " FROM pg_class c WHERE c.relname ~ '^links_|^counter_|^code_' AND c.relkind IN ('r', 'i')"
            " AND pg_relation_size(c.oid) > 1e6 ORDER BY pg_relation_size(c.oid) DESC"
        )
        for name, size, is_index in cursor.fetchall():
            print(f"  {'index' if is_index else 'table'} {name:<48} {size:>10}")
