from __future__ import annotations

import secrets
from datetime import datetime, timedelta

import orjson
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

from accounts.code_styles import MAX_LENGTH, MIN_LENGTH, CodeAlphabet
from accounts.models import Workspace
from common.ids import new_public_id

CLAIM_DAYS = 7
# The pages for visitors that may have the owner's own words. `redirects.refusals` says when each is shown.
PAGES = (
    *("notFound", "notStarted", "expired", "limitReached"),
    *("disabled", "country", "device", "password"),
)


class DomainStatus(models.TextChoices):
    PENDING = "pending", "Pending"
    ACTIVE = "active", "Active"
    INACTIVE = "inactive", "Inactive"


def new_token() -> str:
    """128 random bits. Only the claim's owner knows them, and only the name's owner can publish them in DNS."""
    return secrets.token_hex(16)


class DomainQuerySet(models.QuerySet["Domain"]):
    def claimed(self) -> DomainQuerySet:
        """Leave out unverified claims past their deadline, whose rows may still exist."""
        return self.exclude(status=DomainStatus.PENDING, claimed_until__lte=Now())

    def visible_to(self, owner: Workspace) -> DomainQuerySet:
        """Return the owner's domains, oldest first, or only that of the caller's key if it has one."""
        return self.claimed().filter(owner=owner, **_limits(owner)).order_by("created_at", "id")

    def usable_by(self, owner: Workspace) -> DomainQuerySet:
        """Return the visible domains that can have links."""
        domains = self.filter(owner=owner, status=DomainStatus.ACTIVE, **_limits(owner))
        return domains.order_by("created_at", "id")


def _limits(owner: Workspace) -> dict[str, int]:
    return {} if owner.key is None or owner.key.domain_id is None else {"pk": owner.key.domain_id}


class Domain(models.Model):
    """A customer's host. The service's own host has no row; its links have no domain.

    A domain starts as a claim, which any account can make to any name (pending). Proof in DNS activates it (active).
    Repeated failures of later checks deactivate it (inactive).
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    owner = models.ForeignKey(
        Workspace,
        on_delete=models.CASCADE,
        related_name="domains",
        db_comment="The workspace that claimed the domain.",
    )
    domain = models.CharField(max_length=253, db_comment="As the owner entered it.")
    subdomain = models.CharField(
        max_length=253, null=True, blank=True, db_comment="As entered; null: the domain itself."
    )
    host = models.CharField(max_length=253, db_comment="Full name: lower case, A-labels.")
    status = models.CharField(
        max_length=10,
        choices=DomainStatus,
        default=DomainStatus.PENDING,
        db_comment="pending, active (verified) or inactive.",
    )
    root_url = models.TextField(
        "URL for the home page", null=True, blank=True, db_comment="Where / redirects; null: built-in page."
    )
    not_found_url = models.TextField(
        "URL for unknown codes", null=True, blank=True, db_comment="Where unknown codes redirect; null: 404."
    )
    expired_url = models.TextField(
        "URL for expired links", null=True, blank=True, db_comment="Where expired links redirect; null: 410."
    )
    pages = models.JSONField(
        "own words on pages",
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        db_comment="The owner's words on pages for visitors, by page: {title, text}, of which one may be null.",
    )
    app_links = models.JSONField(
        "apps that open links",
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        db_comment="Apps that open links. apple: appIds, paths, excludedPaths; android: packageName, fingerprints.",
    )
    code_length = models.PositiveSmallIntegerField(
        "length of generated codes",
        null=True,
        blank=True,
        validators=[MinValueValidator(MIN_LENGTH), MaxValueValidator(MAX_LENGTH)],
        db_comment="Characters of generated codes. Null: that of the workspace.",
    )
    code_alphabet = models.TextField(
        "alphabet of generated codes",
        choices=CodeAlphabet,
        null=True,
        blank=True,
        db_comment="full or readable, without characters that look alike. Null: that of the workspace.",
    )
    token = models.CharField(
        max_length=32, default=new_token, editable=False, db_comment="Token that the owner publishes in DNS."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")
    claimed_until = models.DateTimeField(
        "to be verified by",
        db_default=Now() + timedelta(days=CLAIM_DAYS),
        editable=False,
        db_comment="Deadline to verify a pending domain.",
    )
    recheck_at = models.DateTimeField(
        db_default=Now(), editable=False, db_comment="Next DNS check of an active domain."
    )
    failed_checks = models.PositiveSmallIntegerField(
        default=0, editable=False, db_comment="Consecutive failed DNS checks."
    )

    objects = DomainQuerySet.as_manager()

    class Meta:
        db_table_comment = "Customers' domains. The default domain has no row."
        constraints = [
            # Any number of accounts can claim a name; a verified name has one owner.
            models.UniqueConstraint(
                fields=["host"], condition=~models.Q(status="pending"), name="domain_proven_host_unique"
            ),
            models.UniqueConstraint(fields=["owner", "host"], name="domain_claimed_once_by_an_owner"),
            # For the foreign key of links.
            models.UniqueConstraint(fields=["id", "owner"], name="domain_with_owner"),
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
    def pages_json(self) -> str | None:
        """``pages`` as a redirect reads it; None without own words."""
        return orjson.dumps(self.pages).decode() if self.pages else None

    @property
    def verified(self) -> bool:
        return self.status == DomainStatus.ACTIVE

    @property
    def verify_before(self) -> datetime | None:
        """When an unverified claim expires. None: the domain is verified or was."""
        return self.claimed_until if self.status == DomainStatus.PENDING else None

    @property
    def next_check_at(self) -> datetime | None:
        """When the service checks the DNS records again. None: only its owner starts a check."""
        return self.recheck_at if self.status == DomainStatus.ACTIVE else None
