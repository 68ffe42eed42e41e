"""The bodies and the queries of domains and of keys with scopes."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from accounts.api_keys import MAX_GRACE_SECONDS, KeyOwner
from accounts.models import MAX_KEY_NAME, MAX_TOKEN_TEXT
from accounts.rights import Scope
from accounts.serializers import code_alphabet_field, code_length_field
from accounts.token_issuers.issuer_keys import ALGORITHMS
from common.errors import MAX_REPORTED, UNKNOWN_FIELD
from common.jwks import MAX_RSA_BITS, is_usable
from common.rest.fields import (
    Boolean,
    DateTime,
    DestinationField,
    Integer,
    List,
    Matching,
    Name,
    Object,
    StrictObject,
    Text,
    choice_field,
)
from common.rest.pagination import PageQuery
from domains.app_links import (
    APP_ID,
    APP_ID_REFUSED,
    APP_PATH,
    APP_PATH_REFUSED,
    FINGERPRINT,
    FINGERPRINT_REFUSED,
    MAX_APPS,
    MAX_PATHS,
    PACKAGE_NAME,
    PACKAGE_NAME_REFUSED,
)
from domains.representations import domain_with_settings, key_object, token_issuer

MAX_PAGE_TITLE, MAX_PAGE_TEXT = 100, 500
# A host name has at most 253 characters, and A-labels are its longest spelling.
_MAX_CHARACTERS = 253


class ListQuery(PageQuery):
    """A list without ``page`` and ``limit`` is complete: clients written before the list had pages keep working."""

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value(data) if data.keys() & {"page", "limit", "cursor"} else {}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return super().validate(attrs) if attrs else {}


class ClaimSerializer(serializers.Serializer[Any]):
    domain = Text(
        characters=_MAX_CHARACTERS, help_text="A complete name, in any spelling that browsers understand."
    )
    subdomain = Text(
        required=False,
        allow_null=True,
        allow_blank=True,
        characters=_MAX_CHARACTERS,
        help_text="The part before the domain, if any: `go` in `go.example.com`.",
    )


class _Setting(DestinationField):
    def __init__(self, **kwargs: Any) -> None:
        text = "An http or https URL, but not of this service or a banned host."
        super().__init__(required=False, allow_null=True, help_text=text, **kwargs)


class PageWordsSerializer(StrictObject):
    title = Name(max_length=MAX_PAGE_TITLE, required=False, allow_null=True)
    text = Name(
        max_length=MAX_PAGE_TEXT, required=False, allow_null=True, help_text="It may have several lines."
    )


class DomainPagesSerializer(StrictObject):
    """Omitted pages keep their words; null returns to the words of the service."""

    notFound = PageWordsSerializer(required=False, allow_null=True)
    notStarted = PageWordsSerializer(required=False, allow_null=True)
    expired = PageWordsSerializer(required=False, allow_null=True)
    limitReached = PageWordsSerializer(required=False, allow_null=True)
    disabled = PageWordsSerializer(required=False, allow_null=True)
    country = PageWordsSerializer(required=False, allow_null=True)
    device = PageWordsSerializer(required=False, allow_null=True)
    password = PageWordsSerializer(required=False, allow_null=True)


_path = partial(Matching, pattern=APP_PATH, error_code="app_path", message=APP_PATH_REFUSED)


class AppleAppsSerializer(StrictObject):
    appIds = List(
        child=Matching(pattern=APP_ID, error_code="app_id", message=APP_ID_REFUSED),
        min_length=1,
        max_length=MAX_APPS,
    )
    paths = List(
        child=_path(),
        min_length=1,
        max_length=MAX_PATHS,
        required=False,
        help_text="Patterns of the paths that the apps open, with `*` and `?`. Default: all.",
    )
    excludedPaths = List(
        child=_path(), max_length=MAX_PATHS, required=False, help_text="Patterns that apply first."
    )


class AndroidAppSerializer(StrictObject):
    packageName = Matching(pattern=PACKAGE_NAME, error_code="package_name", message=PACKAGE_NAME_REFUSED)
    fingerprints = List(
        child=Matching(pattern=FINGERPRINT, error_code="fingerprint", message=FINGERPRINT_REFUSED),
        min_length=1,
        max_length=MAX_APPS,
        help_text="SHA-256 fingerprints of the certificates that sign the app.",
    )

    def to_internal_value(self, data: Any) -> Any:
        # `common.rest.unknown_fields` does not look into lists.
        unknown = data.keys() - self.fields.keys() if isinstance(data, dict) else ()
        if unknown:
            detail = serializers.ErrorDetail("Unknown field.", code=UNKNOWN_FIELD)
            raise serializers.ValidationError({name: [detail] for name in sorted(unknown)[:MAX_REPORTED]})
        return super().to_internal_value(data)


class AppLinksSerializer(StrictObject):
    """Omitted ones keep their value; null removes one."""

    apple = AppleAppsSerializer(required=False, allow_null=True)
    android = List(child=AndroidAppSerializer(), max_length=MAX_APPS, required=False, allow_null=True)


class SettingsSerializer(serializers.Serializer[Any]):
    """Omitted settings keep their value; null removes a setting."""

    returned = domain_with_settings.names

    rootUrl = _Setting(source="root_url")
    notFoundUrl = _Setting(source="not_found_url")
    expiredUrl = _Setting(source="expired_url")
    pages = DomainPagesSerializer(required=False)
    appLinks = AppLinksSerializer(source="app_links", required=False)
    codeLength = code_length_field()
    codeAlphabet = code_alphabet_field()


class _Expiry(DateTime):
    def to_internal_value(self, data: Any) -> Any:
        moment = super().to_internal_value(data)
        if moment <= timezone.now():
            raise serializers.ValidationError("Must be in the future.", code="past")
        return moment


def _scopes(**options: Any) -> serializers.ListField:
    child = choice_field(choices=Scope.values)
    return serializers.ListField(child=child, min_length=1, max_length=len(Scope), **options)


_DOMAIN = "The `_id` of a domain of the workspace. Null: any domain."


class _NewKey(serializers.Serializer[Any]):
    name = Name(max_length=MAX_KEY_NAME)
    scopes = _scopes()
    domainId = Text(required=False, allow_null=True, max_length=36, source="domain_id", help_text=_DOMAIN)
    onlyOwn = Boolean(required=False, source="only_own")
    expiresAt = _Expiry(required=False, allow_null=True, source="expires_at")


class CreateKeySerializer(_NewKey):
    belongsTo = choice_field(
        choices=KeyOwner.values,
        required=False,
        source="belongs_to",
        help_text="`workspace` needs the role `admin` in the workspace of a team. Default `member`: you.",
    )


class UpdateKeySerializer(serializers.Serializer[Any]):
    """Clients may send back the whole object."""

    returned = key_object.names

    name = Name(max_length=MAX_KEY_NAME, required=False)
    scopes = _scopes(required=False)
    domainId = Text(required=False, allow_null=True, max_length=36, source="domain_id", help_text=_DOMAIN)
    onlyOwn = Boolean(required=False, source="only_own")
    expiresAt = DateTime(required=False, allow_null=True, source="expires_at")


# Two parts that end with a separator name a repository or a namespace, and not only its first characters.
SUBJECT = r"[^*]+|[^*:/]+[:/]+[^*:/]+[:/][^*]*(?:\*[^*]*){1,5}"
SUBJECT_REFUSED = (
    "Before the first *, two parts that end with : or / are required, such as repo:acme/. "
    "At most 5 * are allowed."
)
ISSUER = r"https://[0-9a-z.-]+(?::[0-9]{1,5})?(?:/[0-9A-Za-z._~!$&'()+,;=:@%/-]*)?"
ISSUER_REFUSED = "Must be an https URL without a query, exactly as tokens have it in iss."
_PRINTABLE = r"[!-~](?:[ -~]*[!-~])?"
AUDIENCE_REFUSED = "Must be printable ASCII without spaces at its ends."
# At most 16,000 characters, which each use of the key reads.
MAX_JWKS = 10
_MAX_MODULUS, _MAX_KEY_ID, _MAX_MEMBER = 700, 200, 100
PRIVATE_JWK = "This is a private key. Send public keys only, and replace this one: it is no longer secret."
BAD_JWK = f"Must be a public key for {' or '.join(ALGORITHMS)}, with 2048 to {MAX_RSA_BITS} bits or P-256."


_member = partial(Text, required=False, max_length=_MAX_MEMBER)


class JwkSerializer(Object):
    """A public key as the issuer publishes it (RFC 7517). Further members are ignored."""

    kty = Text(max_length=_MAX_MEMBER)
    kid = _member(max_length=_MAX_KEY_ID)
    use = _member()
    alg = _member()
    n = _member(max_length=_MAX_MODULUS)
    e = _member()
    crv = _member()
    x = _member()
    y = _member()

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and data.keys() & {"d", "k"}:
            raise serializers.ValidationError(PRIVATE_JWK, code="private")
        key = super().to_internal_value(data)
        if not is_usable(key, ALGORITHMS):
            raise serializers.ValidationError(BAD_JWK, code="jwk")
        return key


class JwksSerializer(StrictObject):
    keys = List(child=JwkSerializer(), min_length=1, max_length=MAX_JWKS)


_issuer = partial(
    Matching,
    pattern=ISSUER,
    error_code="issuer",
    message=ISSUER_REFUSED,
    max_length=MAX_TOKEN_TEXT,
    help_text="What tokens have as `iss`.",
)
_audience = partial(
    Matching,
    pattern=_PRINTABLE,
    error_code="audience",
    message=AUDIENCE_REFUSED,
    max_length=MAX_TOKEN_TEXT,
    help_text="What tokens have as `aud`, such as the address of this service.",
)
_subject = partial(
    Matching,
    pattern=SUBJECT,
    error_code="subject",
    message=SUBJECT_REFUSED,
    max_length=MAX_TOKEN_TEXT,
    help_text="What tokens have as `sub`; `*` stands for any characters.",
)
_JWKS = "Public keys of an issuer that the service cannot reach. Null: the issuer publishes them."


class CreateTokenIssuerSerializer(_NewKey):
    issuer = _issuer()
    audience = _audience()
    subject = _subject()
    jwks = JwksSerializer(required=False, allow_null=True, help_text=_JWKS)


class UpdateTokenIssuerSerializer(UpdateKeySerializer):
    """Clients may send back the whole object."""

    returned = token_issuer.names

    issuer = _issuer(required=False)
    audience = _audience(required=False)
    subject = _subject(required=False)
    jwks = JwksSerializer(required=False, allow_null=True, help_text=_JWKS)


class RotateKeySerializer(serializers.Serializer[Any]):
    graceSeconds = Integer(
        required=False,
        min_value=0,
        max_value=MAX_GRACE_SECONDS,
        source="grace_seconds",
        help_text="How long the former key keeps working. Default 0: it stops at once.",
    )
