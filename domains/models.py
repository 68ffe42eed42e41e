from __future__ import annotations

import secrets
from datetime import timedelta

from django.db import models
from django.db.models.functions import Now

from accounts.models import User
from common.ids import new_public_id

CLAIM_DAYS = 7


class DomainStatus(models.TextChoices):
    PENDING = "pending", "Pending"
    ACTIVE = "active", "Active"
    INACTIVE = "inactive", "Inactive"


def new_token() -> str:
    """128 random bits: what only a claim's owner knows, and only a name's owner can put into its DNS."""
    return secrets.token_hex(16)


class Domain(models.Model):
    """A host of a customer's own. The service's own host has no row: a link without a domain lives there.

    It begins as a claim, which anybody may make to any name (pending). Proven in DNS it works (active), and what was
    proven once but is no longer does not (inactive).
    """

    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="domains")
    domain = models.CharField(max_length=253)
    subdomain = models.CharField(max_length=253, null=True, blank=True)  # noqa: DJ001 # the contract says string or null
    host = models.CharField(max_length=253, help_text="Lower case, A-labels: as in a Host header.")
    status = models.CharField(max_length=10, choices=DomainStatus, default=DomainStatus.PENDING)
    # Where visitors are sent who ask for nothing, for what is not there, and for what is over; each as a browser
    # writes it.
    root_url = models.TextField(null=True, blank=True)  # noqa: DJ001 # null: a page of ours
    not_found_url = models.TextField(null=True, blank=True)  # noqa: DJ001 # as above
    expired_url = models.TextField(null=True, blank=True)  # noqa: DJ001 # as above
    token = models.CharField(max_length=32, default=new_token, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    # Of a pending claim: until when it may be proven.
    claimed_until = models.DateTimeField(db_default=Now() + timedelta(days=CLAIM_DAYS), editable=False)
    # Of an active one: when its DNS is looked at again, and how often in a row it was not as it should be.
    recheck_at = models.DateTimeField(db_default=Now(), editable=False)
    failed_checks = models.PositiveSmallIntegerField(default=0, editable=False)

    class Meta:
        constraints = [
            # Claims that are not proven exclude nobody; a proven name has one owner.
            models.UniqueConstraint(
                fields=["host"], condition=~models.Q(status="pending"), name="domain_proven_host_unique"
            ),
            models.UniqueConstraint(fields=["owner", "host"], name="domain_claimed_once_by_an_owner"),
        ]
        indexes = [
            models.Index(
                fields=["recheck_at"], condition=models.Q(status="active"), name="domain_active_recheck_at"
            ),
            models.Index(
                fields=["claimed_until"], condition=models.Q(status="pending"), name="domain_pending_until"
            ),
        ]

    def __str__(self) -> str:
        return self.host

    @property
    def verified(self) -> bool:
        return self.status == DomainStatus.ACTIVE
