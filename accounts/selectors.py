from __future__ import annotations

from accounts import keys
from accounts.models import ApiKey, User
from common.database import read_first
from common.ids import parse_public_id


def user_of_api_key(key: str) -> User | None:
    """The active account a key belongs to. Asked anew for every request: a revoked key is dead at once, everywhere."""
    if not keys.is_well_formed(key):
        return None
    query = User.objects.filter(api_key__digest=keys.digest(key), is_active=True)
    return read_first(query.first)


def user_of_email(email: str) -> User | None:
    return read_first(User.objects.filter(email=email.lower()).first)


def user_of_public_id(public_id: str) -> User | None:
    identifier = parse_public_id(public_id)
    return None if identifier is None else read_first(User.objects.filter(public_id=identifier).first)


def sealed_key_of(user: User) -> bytes | None:
    sealed = ApiKey.objects.filter(user=user).values_list("sealed", flat=True).first()
    return None if sealed is None else bytes(sealed)
