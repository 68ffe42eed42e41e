from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models import User
from common.ids import new_public_id


class DomainStatus(models.TextChoices):
    PENDING = "pending", "Pending"
    ACTIVE = "active", "Active"
    INACTIVE = "inactive", "Inactive"


class Domain(models.Model):
    """A host of a customer's own. The service's own host has no row: a link without a domain lives there."""

    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="domains")
    domain = models.CharField(max_length=253)
    subdomain = models.CharField(max_length=253, null=True, blank=True)  # noqa: DJ001 # the contract says string or null
    host = models.CharField(max_length=253, help_text="Lower case, A-labels: as in a Host header.")
    status = models.CharField(max_length=10, choices=DomainStatus, default=DomainStatus.PENDING)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            # Claims that are not proven exclude nobody; a proven name has one owner.
            models.UniqueConstraint(
                fields=["host"], condition=~models.Q(status="pending"), name="domain_proven_host_unique"
            )
        ]

    def __str__(self) -> str:
        return self.host

    @property
    def verified(self) -> bool:
        return self.status == DomainStatus.ACTIVE
