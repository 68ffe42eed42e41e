from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from accounts.models import User
from common.ids import new_public_id
from domains.models import Domain


class RedirectType(models.IntegerChoices):
    PERMANENT = 301
    FOUND = 302


class Device(models.TextChoices):
    DESKTOP = "desktop"
    MOBILE = "mobile"
    TABLET = "tablet"


class Link(models.Model):
    """A short link. Its clicks are counted in ClickCounter and its codes live in Code.

    The database keeps a narrow copy of what lists match (``links_searchable``) by itself.
    """

    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="links", db_index=False)
    # No domain: the service's own host.
    domain = models.ForeignKey(Domain, on_delete=models.RESTRICT, null=True, blank=True, related_name="links")
    short_code = models.CharField(max_length=50, editable=False)
    custom_code = models.CharField(max_length=50, null=True, blank=True)  # noqa: DJ001 # null: there is none
    original_url = models.TextField(editable=False, help_text="As the caller wrote it.")
    destination = models.TextField(editable=False, help_text="As a browser writes it; what is sent.")
    title = models.CharField(max_length=800, null=True, blank=True)  # noqa: DJ001 # null and "" are told apart
    description = models.CharField(max_length=2000, null=True, blank=True)  # noqa: DJ001 # as title
    tags = ArrayField(models.TextField(), default=list, blank=True)
    tag_keys = ArrayField(
        models.TextField(), default=list, editable=False, help_text="Folded, for the filter."
    )
    is_active = models.BooleanField(default=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    password = models.CharField(max_length=200, null=True, blank=True, editable=False)  # noqa: DJ001 # a hash
    utm = models.JSONField(default=dict, blank=True)
    max_clicks = models.PositiveIntegerField(null=True, blank=True)
    allowed_countries = ArrayField(models.CharField(max_length=2), default=list, blank=True)
    blocked_countries = ArrayField(models.CharField(max_length=2), default=list, blank=True)
    allowed_devices = ArrayField(models.CharField(max_length=7, choices=Device), default=list, blank=True)
    redirect_type = models.PositiveSmallIntegerField(choices=RedirectType, default=RedirectType.FOUND)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return self.custom_code or self.short_code

    @property
    def has_password(self) -> bool:
        return self.password is not None


class CodeKind(models.TextChoices):
    SHORT = "short"
    CUSTOM = "custom"
    ALIAS = "alias", "Alias (a former custom code)"
    RESERVED = "reserved", "Reserved (the way home of a link on a customer's domain)"
    RETIRED = "retired", "Retired (of a deleted link)"


class Code(models.Model):
    """The namespace: one row for each code that is taken on a domain, whatever took it.

    A retired code belongs to no link any more and is held back until ``held_until`` for its former owner.
    """

    domain = models.ForeignKey(
        Domain, on_delete=models.CASCADE, null=True, related_name="codes", db_index=False
    )
    code = models.CharField(max_length=50)
    kind = models.CharField(max_length=8, choices=CodeKind)
    link = models.ForeignKey(Link, on_delete=models.CASCADE, null=True, related_name="codes")
    owner = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, db_index=False)
    held_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["domain", "code"], nulls_distinct=False, name="code_unique"),
            models.CheckConstraint(
                name="code_held_or_linked",
                condition=models.Q(kind="retired", link=None, held_until__isnull=False)
                | (~models.Q(kind="retired") & models.Q(link__isnull=False, held_until=None)),
            ),
        ]

    def __str__(self) -> str:
        return self.code


class ClickCounter(models.Model):
    """The clicks of a link, apart from it: a click must not rewrite the link's row and all its indexes.

    The database makes the row with the link.
    """

    link = models.OneToOneField(Link, on_delete=models.CASCADE, primary_key=True, related_name="counter")
    owner = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False)
    clicks = models.BigIntegerField(default=0)
    # How many of them came with an import: they are in no report.
    imported = models.BigIntegerField(db_default=0)

    class Meta:
        indexes = [models.Index(fields=["owner", "clicks", "link"], name="counter_owner_clicks")]


class OwnerTotals(models.Model):
    """Kept sums of an owner's links, so that no page and no statistic counts rows.

    Spread over slots, so that the writes of one owner do not wait for each other. The database keeps them.
    """

    pk = models.CompositePrimaryKey("owner", "slot")
    owner = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False)
    slot = models.SmallIntegerField()
    links = models.BigIntegerField(default=0)
    active_links = models.BigIntegerField(default=0)
    clicks = models.BigIntegerField(default=0)


class Ban(models.Model):
    """What an operator wants nobody to be led to: a host with all below it, one link, or all links of an account.

    Asked at every look at a link (``links_is_banned`` in the database), and nothing of the link is changed: whoever
    lifts a ban gives back exactly what the owner had.
    """

    host = models.CharField(
        max_length=255,
        unique=True,
        null=True,
        blank=True,
        help_text="Of destinations, with all hosts below it. An address may be pasted, too.",
    )
    owner = models.OneToOneField(
        User,
        on_delete=models.CASCADE,
        related_name="ban",
        null=True,
        blank=True,
        help_text="None of the account's links is followed. Disable the account, too, if nobody may use it.",
    )
    # Links are deleted by statements of their own, past Django: the constraint is the migration's, and cascades.
    link = models.OneToOneField(
        Link, on_delete=models.CASCADE, related_name="ban", null=True, blank=True, db_constraint=False
    )
    reason = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="ban_of_one_thing",
                condition=models.Q(host__isnull=False, owner=None, link=None)
                | models.Q(host=None, owner__isnull=False, link=None)
                | models.Q(host=None, owner=None, link__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.host or str(self.owner or self.link)


class CreatedLinks(models.Model):
    """How many links an owner whose plan has a quota created in a month: also those that are deleted since."""

    owner = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True)
    month = models.DateField()
    links = models.IntegerField()
