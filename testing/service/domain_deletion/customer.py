"""A domain with many links, and links on other domains, created in SQL."""

from __future__ import annotations

from typing import NamedTuple

import psycopg

GOING, STAYING, DEFAULT = "going.brand.example", "staying.brand.example", "127.0.0.1"
# One in CUSTOM links of the domain has a custom code; one in TAKEN has one that the default domain already uses.
CUSTOM, TAKEN = 10, 100
OTHERS = 1_000
URL = "https://www.example.com/"

_DOMAIN = """
INSERT INTO domains_domain (public_id, owner_id, domain, host, status, token, failed_checks, recheck_at)
SELECT gen_random_uuid(), id, %(host)s, %(host)s, 'active', md5(%(host)s), 0, now() + interval '1 day'
FROM accounts_user ORDER BY id LIMIT 1 RETURNING id, public_id::text
"""
# Links with their codes, as the API creates them. The short code is also reserved on the default domain.
_LINKS = """
WITH link AS (
    INSERT INTO links_link (
        public_id, owner_id, domain_id, short_code, custom_code, original_url, destination, tags, tag_keys, is_active,
        utm, allowed_countries, blocked_countries, allowed_devices, redirect_type
    )
    SELECT gen_random_uuid(), (SELECT min(id) FROM accounts_user), %(domain)s, %(name)s || n,
        CASE WHEN n %% %(custom)s = 0 THEN 'custom' || n END, %(url)s || n, %(url)s || n, '{}', '{}', true,
        '{}', '{}', '{}', '{}', 302
    FROM generate_series(%(step)s, %(count)s, %(step)s) n RETURNING id, domain_id, short_code, custom_code
)
INSERT INTO links_code (domain_id, code, kind, link_id)
SELECT domain_id, short_code, 'short', id FROM link
UNION ALL SELECT domain_id, custom_code, 'custom', id FROM link WHERE custom_code IS NOT NULL
UNION ALL SELECT NULL, short_code, 'reserved', id FROM link WHERE domain_id IS NOT NULL
"""


class Customer(NamedTuple):
    """``others`` maps (host, code) of links on other domains to their destinations."""

    domain: str
    links: int
    others: dict[tuple[str, str], str]

    @property
    def dropped(self) -> int:
        return self.links // TAKEN

    def destinations_after_deletion(self) -> dict[str, str]:
        """Destinations by code on the default domain, once the links have moved there."""
        numbers = range(1, self.links + 1)
        custom = {
            f"custom{n}": f"{URL}{'taken' if n % TAKEN == 0 else 'going'}/{n}"
            for n in numbers
            if n % CUSTOM == 0
        }
        return {f"going{n}": f"{URL}going/{n}" for n in numbers} | custom


def customer(database: str, links: int) -> Customer:
    """Create the domain with its links, another domain, and links on the default domain."""
    never = links + OTHERS + 1
    with psycopg.connect(database, cursor_factory=psycopg.ClientCursor) as connection:

        def domain(host: str) -> tuple[int, str]:
            row = connection.execute(_DOMAIN, {"host": host}).fetchone()
            assert row is not None
            return row

        def make(domain_id: int | None, name: str, count: int, *, step: int = 1, custom: int = never) -> None:
            values = {"domain": domain_id, "name": name, "count": count, "step": step, "custom": custom}
            connection.execute(_LINKS, {**values, "url": f"{URL}{name}/"})

        going, public_id = domain(GOING)
        staying, _ = domain(STAYING)
        make(going, "going", links, custom=CUSTOM)
        make(None, "taken", links, step=TAKEN, custom=TAKEN)
        make(staying, "staying", OTHERS)
        make(None, "default", OTHERS)
    others = {
        (host, f"{name}{number}"): f"{URL}{name}/{number}"
        for host, name in ((STAYING, "staying"), (DEFAULT, "default"))
        for number in range(1, OTHERS + 1)
    }
    return Customer(public_id, links, others)
