"""What operators ban. In force on every worker once the call's transaction is committed.

A ban may be of any number of links, so that everybody forgets all of them.
"""

from __future__ import annotations

from accounts.models import User
from common import versions
from common.destination_url import InvalidDestination, canonical_destination
from common.errors import FieldError, InvalidFields
from links.models import Ban, Link


def banned_host(given: str) -> str:
    """The host that is meant by a name or by a whole address, as destinations have it. Raises InvalidFields."""
    try:
        host = canonical_destination(given if "://" in given else f"https://{given}").host.removesuffix(".")
    except InvalidDestination as error:
        raise InvalidFields([FieldError("host", error.code, error.message)]) from None
    if "." not in host and not host.startswith("["):
        raise InvalidFields(
            [FieldError("host", "single_label", "Everything below this name would be banned.")]
        )
    return host


def ban_host(*, host: str, reason: str = "") -> Ban:
    """No link to this host, or to one below it, is followed or can be created any more."""
    return _ban(reason, host=banned_host(host))


def ban_links_of(*, owner: User, reason: str = "") -> Ban:
    """None of an account's links is followed any more, nor any that it goes on to create."""
    return _ban(reason, owner=owner)


def ban_link(*, link: Link, reason: str = "") -> Ban:
    """As if its owner had switched the link off, except that the owner cannot switch it on again."""
    return _ban(reason, link=link)


def lift_ban(*, ban: Ban) -> None:
    Ban.objects.filter(pk=ban.pk).delete()
    versions.bump_all()


def _ban(reason: str, **subject: str | User | Link) -> Ban:
    """The ban, or the one that there is already."""
    ban, _ = Ban.objects.get_or_create(**subject, defaults={"reason": reason})
    versions.bump_all()
    return ban
