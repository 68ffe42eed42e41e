"""Domains, and keys with scopes, as the API shows them: each field's value, schema and example."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from operator import itemgetter
from typing import Any

from rest_framework.fields import CharField, ChoiceField, ListField

from accounts.api_keys import KeyOwner
from accounts.models import ScopedKey
from accounts.representations import code_settings
from accounts.rights import Scope
from common.jwks import MEMBERS
from common.openapi.responses import Field, Representation, choice, flag, identifier, moment, public_id, text
from domains.models import CLAIM_DAYS, PAGES, Domain, DomainStatus
from domains.verification import required_records

RECORD_TYPES = ("TXT", "CNAME", "A", "AAAA")
EXAMPLE_TOKEN = "5f1c0f6a9d3e4b7c8a2d1e0f9b8c7d6e"  # noqa: S105 # an example


def _records(domain: Domain) -> list[dict[str, Any]]:
    return [_record(record) for record in required_records(domain)]


_record = Representation(
    "DnsRecord",
    choice("type", "type", RECORD_TYPES, "TXT"),
    text("name", "name", "_shortener-challenge.go.example.com", label="name"),
    text(
        "relativeName",
        "relative_name",
        "_shortener-challenge.go",
        "The name inside the registered domain, as DNS panels ask for it; `@`: the domain itself.",
    ),
    text("value", "value", EXAMPLE_TOKEN),
)
listed_domain = Representation(
    "ListedDomain",
    public_id("019a9e3d-7b1c-7d02-a6c4-3e8f5d9b2a10"),
    text("domain", "domain", "example.com"),
    text("subdomain", "subdomain", "go", allow_null=True),
    text("fullDomain", "host", "go.example.com", "The complete host name, in A-labels."),
    choice(
        "status",
        "status",
        DomainStatus.values,
        "pending",
        f"`pending`: not verified yet; the claim expires {CLAIM_DAYS} days after it was added. `active`: verified. "
        "`inactive`: its DNS was wrong on three days in a row; its links return 410 until it is verified again.",
    ),
    flag("verified", "verified", False, "Whether it is active."),
    moment("createdAt", "created_at", "2030-03-01T09:30:00.123456Z"),
    moment(
        "verifyBefore",
        "verify_before",
        "2030-03-08T09:30:00.123456Z",
        allow_null=True,
        help_text="When a pending claim expires; null: not pending.",
    ),
    moment(
        "nextCheckAt",
        "next_check_at",
        None,
        allow_null=True,
        help_text="When the service checks the DNS records of an active domain again; null: not active.",
    ),
)
whole_domain = Representation("Domain", *listed_domain.fields, _record.listed("dnsRecords", _records))
_words = Representation(
    "PageWords",
    text("title", None, "This offer has ended", "Null: the service's own title.", allow_null=True),
    text(
        "text",
        None,
        "See our current offers at brand.example.",
        "Null: the service's own text.",
        allow_null=True,
    ),
)
_pages = Representation(
    "DomainPages",
    *(
        _words.nested(page, itemgetter(page), allow_null=True)._replace(
            example=_words.example if page == "expired" else None
        )
        for page in PAGES
    ),
)
_apple = Representation(
    "AppleApps",
    Field("appIds", itemgetter("appIds"), ListField(child=CharField()), ["ABCDE12345.com.example.app"]),
    Field("paths", itemgetter("paths"), ListField(child=CharField()), ["/*"]),
    Field("excludedPaths", itemgetter("excludedPaths"), ListField(child=CharField()), ["/print-*"]),
)
_android = Representation(
    "AndroidApp",
    text("packageName", itemgetter("packageName"), "com.example.app"),
    Field(
        "fingerprints",
        itemgetter("fingerprints"),
        ListField(child=CharField()),
        [":".join(["0F", "A1"] * 16)],
    ),
)
_app_links = Representation(
    "AppLinks",
    _apple.nested("apple", itemgetter("apple"), allow_null=True),
    _android.listed("android", itemgetter("android")),
)
domain_settings = Representation(
    "",
    *(
        text(name, source, f"https://brand.example/{path}", help_text, allow_null=True)
        for name, source, path, help_text in (
            (
                "rootUrl",
                "root_url",
                "",
                "Redirect target of `/` on this host; null: a built-in page.",
            ),
            ("notFoundUrl", "not_found_url", "lost", "Redirect target of unknown codes."),
            (
                "expiredUrl",
                "expired_url",
                "over",
                "Redirect target of links that have expired or reached their click limit.",
            ),
        )
    ),
    *code_settings(null=("as the workspace says", "as the workspace says")),
    _pages.nested("pages", lambda domain: _pages({page: domain.pages.get(page) for page in PAGES})),
    _app_links.nested(
        "appLinks", lambda domain: _app_links({"apple": None, "android": [], **domain.app_links})
    ),
)
domain_with_settings = Representation("DomainWithSettings", *whole_domain.fields, *domain_settings.fields)
verified_domain = Representation(
    "VerifiedDomain",
    *listed_domain.pick("", "_id fullDomain").fields,
    choice("status", "status", DomainStatus.values, "active"),
    flag("verified", "verified", True),
)
moved_domain = Representation("MovedDomain", *listed_domain.pick("", "_id fullDomain status verified").fields)


EXAMPLE_KEY = "sl_key_0123456789ABCDEFGHIJKLMNOPQRSTUV4kuzEo"

# A public key that nobody has the private key of.
EXAMPLE_JWK = {
    "kty": "EC",
    "crv": "P-256",
    "kid": "2026-11",
    "x": "AlylzuJ4hmdxxYfyVmYYQ7Tmx85hbdqUNAxk3rKLdJ8",
    "y": "llke7EnRUNnhKZWLBeht8P4_VeoX5xyi9_oMjhdye0g",
}
_creator = Representation(
    "KeyCreator",
    identifier("_id", "public_id", "01a1fa86-3c5e-7d21-9f0a-4b6c8d2e1f35"),
    text("email", "email", "ada@example.com"),
    text("firstName", "first_name", "Ada"),
    text("lastName", "last_name", "Lovelace"),
)
key_object = Representation(
    "Key",
    public_id("01a1fa86-b41c-7e0d-93a5-7c2f1d8e6b90"),
    text("name", "name", "Nightly import"),
    Field(
        "scopes",
        lambda key: [scope.value for scope in key.scope_list],
        ListField(child=ChoiceField(Scope.values)),
        [Scope.URLS_READ.value, Scope.URLS_WRITE.value],
    ),
    text("domainId", None, None, "The only domain with whose links it works. Null: any.", allow_null=True),
    flag("onlyOwn", "only_own", False, "Whether it works only with the links that it created."),
    moment("expiresAt", "expires_at", "2030-01-05T09:30:00Z", allow_null=True),
    moment("lastUsedAt", "last_used_at", None, help_text="Exact to a minute.", allow_null=True),
    moment(
        "graceUntil",
        "previous_until",
        None,
        help_text="When the key before the last rotation stops working.",
        allow_null=True,
    ),
    moment("createdAt", "created_at", "2026-01-05T09:30:00Z"),
    text(
        "issuer",
        "issuer",
        None,
        "The issuer whose tokens act as this key: see `GET /api/token-issuers`. Null: the key has a text of its own.",
        allow_null=True,
    ),
    choice(
        "belongsTo",
        lambda key: KeyOwner.WORKSPACE if key.user is None else KeyOwner.MEMBER,
        KeyOwner.values,
        KeyOwner.MEMBER.value,
    ),
    _creator.nested(
        "creator",
        lambda key: None if key.user is None else _creator(key.user),
        allow_null=True,
        help_text="The member to whom it belongs. Null for a key of the workspace.",
    ),
)
_jwk = Representation("Jwk", *(text(name, None).optional() for name in MEMBERS))
_jwks = Representation("Jwks", _jwk.listed("keys"))
_OF_BOTH = "name scopes domainId onlyOwn expiresAt lastUsedAt createdAt"
token_issuer = Representation(
    "TokenIssuer",
    public_id("01a1fa86-c5d2-7f1b-8a46-5e0b9d3c7f21"),
    text("issuer", "issuer", "https://token.actions.githubusercontent.com", "What tokens have as `iss`."),
    text("audience", "audience", "https://sho.rt", "What tokens have as `aud`."),
    text(
        "subject",
        "subject",
        "repo:acme/site:ref:refs/heads/main",
        "What tokens have as `sub`; `*` stands for any characters.",
    ),
    _jwks.nested(
        "jwks", "jwks", allow_null=True, help_text="Public keys of the issuer. Null: it publishes them."
    )._replace(example=None),
    *key_object.pick("", _OF_BOTH).fields,
)
new_key_object = Representation(
    "NewKey", *key_object.fields, text("apiKey", None, EXAMPLE_KEY, "The key itself. It is shown only here.")
)


def represent_keys(
    keys: Collection[ScopedKey], represent: Representation = key_object
) -> list[dict[str, Any]]:
    """Represent keys, with one query for all their domains."""
    domains = _public_ids(key.domain_id for key in keys)
    return [{**represent(key), "domainId": domains.get(key.domain_id)} for key in keys]


def represent_key(key: ScopedKey) -> dict[str, Any]:
    return represent_keys([key])[0]


def represent_issuer(key: ScopedKey) -> dict[str, Any]:
    return represent_keys([key], token_issuer)[0]


def _public_ids(domain_ids: Iterable[int | None]) -> dict[int | None, Any]:
    named = {domain_id for domain_id in domain_ids if domain_id is not None}
    return dict(Domain.objects.filter(pk__in=named).values_list("pk", "public_id")) if named else {}
