"""Limits guesses at a secret, such as the password of an account or of a link.

An attacker must not lock the owner out. So failures from other sites and providers never block a network's first
attempts, and a network with a recent success keeps its attempts whatever others do. After many failures, networks
without a recent success get fewer attempts. Networks without a recent success also share the limits of their site and
their provider, which can refuse even a first attempt: otherwise the owner of a large network could guess
without bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from common.http.client_address import client_network, provider_network, site_network
from limits.attempts import Limit, record_attempt, spend_attempt, uncount_attempts
from limits.models import KnownNetwork, digest_subject

PER_NETWORK = Limit(attempts=10, seconds=15 * 60)
# STRICT applies to networks without a recent success once the secret has UNDER_ATTACK failures over all networks.
UNDER_ATTACK = Limit(attempts=100, seconds=60 * 60)
STRICT = Limit(attempts=2, seconds=15 * 60)
# Limits on larger networks, so that an attacker gains little from owning many small ones.
PER_SITE = Limit(attempts=30, seconds=60 * 60)
PER_PROVIDER = Limit(attempts=200, seconds=60 * 60)


@dataclass(frozen=True, slots=True)
class Guess:
    """An attempt that has been counted but not yet made."""

    secret: str
    network: str
    subjects: tuple[str, ...]

    def succeeded(self, *, known_for: timedelta) -> None:
        """Uncount the attempt. For ``known_for``, failures from other networks do not affect this network."""
        uncount_attempts(self.subjects)
        network = KnownNetwork(subject=_known_subject(self.secret, self.network), until=Now() + known_for)
        KnownNetwork.objects.bulk_create(
            [network], update_conflicts=True, unique_fields=["subject"], update_fields=["until"]
        )


def begin_guess(
    secret: str,
    address: str,
    *,
    per_network: Limit = PER_NETWORK,
    extra_limits: Mapping[str, Limit] | None = None,
) -> Guess:
    """Count an attempt before it is made, under the secret and all subjects of ``extra_limits``, atomically.

    ``secret`` identifies the guessed secret. Raises TooManyAttempts.
    """
    network = client_network(address)
    network_subject = f"{secret} {network}"
    with transaction.atomic():
        is_under_attack = record_attempt(secret, UNDER_ATTACK)
        is_known = _is_known(secret, network)
        limits = {network_subject: STRICT if is_under_attack and not is_known else per_network}
        if not is_known:
            limits |= _limits_of_wider_networks(secret, address)
        limits |= extra_limits or {}
        for subject, limit in limits.items():
            spend_attempt(subject, limit)
    return Guess(secret, network, (secret, *limits))


def delete_expired_networks() -> int:
    """Delete expired entries. Returns their number."""
    deleted, _ = KnownNetwork.objects.filter(until__lte=Now()).delete()
    return deleted


def _limits_of_wider_networks(secret: str, address: str) -> dict[str, Limit]:
    wider = {site_network(address): PER_SITE, provider_network(address): PER_PROVIDER}
    return {f"{secret} {network}": limit for network, limit in wider.items() if network is not None}


def _is_known(secret: str, network: str) -> bool:
    return KnownNetwork.objects.filter(subject=_known_subject(secret, network), until__gt=Now()).exists()


def _known_subject(secret: str, network: str) -> bytes:
    return digest_subject(f"known {secret} {network}")
