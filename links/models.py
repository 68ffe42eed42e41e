"""The tables of links: links and their codes, counts and sums, deleted links, and where links have led.

The foreign keys without ``db_constraint`` are in the SQL of the migration.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now
from django.db.models.lookups import Exact
from django.utils import timezone

from accounts.health_checks import HealthCheck
from accounts.models import Workspace
from accounts.rights import CallerKey
from common.ids import new_public_id
from domains.models import Domain, DomainStatus
from links.availability import State, Status, ban_reason_in_sql, status_in_sql, status_of
from links.fields import UNIQUE, Device, RedirectType, ReferrerPolicy
from links.health.states import NEVER_CHECKED, HealthStatus

# Renamed, merged and deleted tags can be restored for so long.
UNDO_DAYS = 7
# The longest code that an imported link may keep.
MAX_CODE = 255


def limits_of(key: CallerKey | None, path: str = "") -> dict[str, int]:
    """Filters of a query set by the limits of a key. ``path`` is the lookup path to the link, such as ``link__``."""
    if key is None:
        return {}
    limits = {"domain_id": key.domain_id, "key_id": key.id if key.only_own else None}
    return {path + name: value for name, value in limits.items() if value is not None}


class LinkQuerySet(models.QuerySet["Link"]):
    def visible_to(self, owner: Workspace) -> LinkQuerySet:
        """The owner's links within the limits of the caller's key."""
        return self.filter(owner=owner, **limits_of(owner.key))

    def with_bans(self) -> LinkQuerySet:
        """Annotate ``ban_reason``: "legal" or "other" if a ban applies to the link, its owner or a destination."""
        reason = RawSQL(ban_reason_in_sql("links_link"), [], models.TextField())  # noqa: S611 # constants
        return self.annotate(ban_reason=reason)  # type: ignore[no-redef] # declared on the model for its readers

    def in_state(self, *statuses: Status) -> LinkQuerySet:
        """The links that have one of these statuses now."""
        status = RawSQL(status_in_sql("links_link.id"), [], models.TextField())  # noqa: S611 # constants
        return self.alias(status_now=status).filter(status_now__in=statuses)


class Link(models.Model):
    """A short link. Its clicks are counted in ClickCounter and its codes live in Code.

    Triggers maintain a narrow copy of the searchable columns (``links_searchable``), and the history of the URLs that
    the link led to (Route).

    An entry of ``rules`` is ``{_id, number, name, url, href, conditions}``, and one of ``split`` is ``{_id, number,
    name, url, href, weight}``: ``_id`` has 32 hexadecimal digits, ``number`` is 1 to 15 and unique within the link,
    ``url`` is as entered, and ``href`` is its canonical form. A condition is ``{type, values, not}``.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    owner = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="links", db_index=False, db_comment="The workspace."
    )
    creator = models.ForeignKey(
        "accounts.User",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        db_index=False,
        related_name="created_links",
        db_comment="The account that created the link. Null: that of the personal workspace.",
    )
    # No foreign key: deleting a key must not write to its links. Numbers of keys are not used again.
    key_id = models.BigIntegerField(
        null=True, editable=False, db_comment="The key with scopes that created the link. Null: none."
    )
    domain = models.ForeignKey(
        Domain,
        on_delete=models.RESTRICT,
        null=True,
        blank=True,
        db_index=False,
        db_constraint=False,
        related_name="links",
        db_comment="Null: the default domain.",
    )
    short_code = models.CharField(max_length=MAX_CODE, editable=False, db_comment="Generated; never changes.")
    custom_code = models.CharField(max_length=MAX_CODE, null=True, blank=True, db_comment="Null: none.")
    original_url = models.TextField("original URL", editable=False, db_comment="Destination as entered.")
    target_url = models.TextField(
        "target URL",
        null=True,
        blank=True,
        db_comment="Replaces original_url as the destination. As entered. Null: none.",
    )
    destination = models.TextField(
        editable=False, db_comment="Canonical form of target_url or original_url, sent in redirects."
    )
    other_destinations = ArrayField(
        models.TextField(),
        default=list,
        db_default=Value([], output_field=ArrayField(models.TextField())),
        editable=False,
        db_comment="Canonical form of all other URLs to which the link can lead, and of the image of its preview.",
    )
    title = models.CharField(max_length=800, null=True, blank=True, db_comment="Null: never set.")
    description = models.CharField(max_length=2000, null=True, blank=True, db_comment="Null: never set.")
    tags = ArrayField(models.TextField(), default=list, blank=True, db_comment="Tags as entered.")
    tag_keys = ArrayField(
        models.TextField(), default=list, editable=False, db_comment="Case-folded tags, for filters."
    )
    is_active = models.BooleanField("switched on", default=True, db_comment="The owner's switch.")
    starts_at = models.DateTimeField(null=True, blank=True, db_comment="Null: at once.")
    not_started_url = models.TextField(
        "URL before the start",
        null=True,
        blank=True,
        db_comment="Where visitors go before starts_at. Canonical form. Null: 404.",
    )
    expires_at = models.DateTimeField(null=True, blank=True, db_comment="Null: never.")
    expired_url = models.TextField(
        "URL after the end",
        null=True,
        blank=True,
        db_comment="Where visitors go after the end or the last click. Canonical form. Null: the domain's, or 410.",
    )
    fallback_url = models.TextField(
        "URL while the destination is dead",
        null=True,
        blank=True,
        db_comment="Where visitors go while the destination is dead. Canonical form. Null: to the destination.",
    )
    health_check = models.TextField(
        "checks of the destination",
        choices=HealthCheck,
        null=True,
        blank=True,
        db_comment="How often the destination is checked: off, weekly or daily. Null: as the workspace says.",
    )
    is_dead = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        db_comment="Whether checks have found the destination dead: the status in links_linkhealth, for redirects.",
    )
    password = models.CharField(max_length=200, null=True, blank=True, editable=False, db_comment="Hash.")
    utm = models.JSONField(default=dict, blank=True, db_comment="utm parameters added to redirects.")
    forward_query = models.BooleanField(
        "forwards the visitor's parameters",
        default=False,
        db_default=False,
        db_comment="Whether redirects add the visitor's parameters.",
    )
    referrer_policy = models.TextField(
        choices=ReferrerPolicy, null=True, blank=True, db_comment="Referrer-Policy of redirects. Null: none."
    )
    rules = models.JSONField(
        default=list,
        db_default=Value([], output_field=models.JSONField()),
        blank=True,
        db_comment="Destinations with conditions on the visitor; the first rule that matches applies.",
    )
    split = models.JSONField(
        default=list,
        db_default=Value([], output_field=models.JSONField()),
        blank=True,
        db_comment="Destinations that each get a share of the visitors, after the rules.",
    )
    preview = models.JSONField(
        null=True, blank=True, db_comment="The card that messengers show: title, description and imageUrl."
    )
    external_id = models.CharField(
        "id in another system",
        max_length=400,
        null=True,
        blank=True,
        db_comment="Id in another system, unique in the workspace. Null: none.",
    )
    is_archived = models.BooleanField(
        "archived", default=False, db_default=False, db_comment="Whether lists hide the link."
    )
    max_clicks = models.PositiveIntegerField(
        "click limit", null=True, blank=True, db_comment="Null: no limit."
    )
    max_clicks_per_visitor = models.PositiveIntegerField(
        "click limit per visitor", null=True, blank=True, db_comment="Null: no limit."
    )
    allowed_countries = ArrayField(
        models.CharField(max_length=2), default=list, blank=True, db_comment="ISO 3166-1 alpha-2; empty: all."
    )
    blocked_countries = ArrayField(
        models.CharField(max_length=2), default=list, blank=True, db_comment="ISO 3166-1 alpha-2."
    )
    allowed_devices = ArrayField(
        models.CharField(max_length=7, choices=Device),
        default=list,
        blank=True,
        db_comment="desktop, mobile, tablet; empty: all.",
    )
    redirect_type = models.PositiveSmallIntegerField(
        "redirect", choices=RedirectType, default=RedirectType.FOUND, db_comment="HTTP status: 301 or 302."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")
    updated_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Last change.")

    objects = LinkQuerySet.as_manager()

    class Meta:
        db_table_comment = "Short links."
        indexes = [
            # Empty without teams: links of personal workspaces have no creator.
            models.Index(
                fields=["creator", "owner", "is_archived", "created_at", "id"],
                condition=models.Q(creator__isnull=False),
                name="link_creator",
            ),
            models.Index(
                fields=["owner", "is_archived", "created_at", "id"],
                condition=models.Q(password__isnull=False),
                name="link_password",
            ),
            models.Index(fields=["owner"], condition=~models.Q(utm={}), name="link_utm"),
            # Links of the default domain cost nothing here: `links_owner_domain` serves lists of any domain.
            models.Index(fields=["domain"], condition=models.Q(domain__isnull=False), name="link_domain"),
            # With the owner, so that the links of a key are counted without reading them.
            models.Index(
                fields=["key_id", "owner"],
                condition=models.Q(key_id__isnull=False),
                include=["is_archived"],
                name="link_key",
            ),
            # Lists by status read only these links, unless a ban or a domain can close them.
            models.Index(
                fields=["owner", "id"],
                condition=models.Q(is_active=False)
                | models.Q(starts_at__isnull=False)
                | models.Q(expires_at__isnull=False)
                | models.Q(max_clicks__isnull=False),
                include=["is_active", "is_archived", "starts_at", "expires_at", "max_clicks"],
                name="link_closable",
            ),
            models.Index(fields=["owner", "id"], condition=models.Q(is_dead=True), name="link_dead"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", field.column],
                condition=models.Q((f"{field.column}__isnull", False)),
                name=field.constraint,
            )
            for field in UNIQUE
        ]

    def __str__(self) -> str:
        return self.custom_code or self.short_code

    # `links.selectors` sets it.
    health = NEVER_CHECKED

    # `LinkQuerySet.with_bans` and `links.selectors` set it.
    ban_reason: str | None

    @property
    def status(self) -> Status:
        """Requires ``ban_reason``, the joined counter and the joined domain."""
        return self.status_after(self.counter.clicks)

    def status_after(self, clicks: int) -> Status:
        """The status after so many clicks."""
        return status_of(
            State(self.ban_reason, self.is_active, self.starts_at, self.expires_at, self.max_clicks, clicks),
            timezone.now(),
            is_served=self.domain is None or self.domain.status == DomainStatus.ACTIVE,
        )

    @property
    def has_password(self) -> bool:
        return self.password is not None


class CodeKind(models.TextChoices):
    SHORT = "short"
    CUSTOM = "custom"
    ALIAS = "alias", "Alias (a former custom code)"
    RESERVED = "reserved", "Reserved (default-domain code of a link on a customer's domain)"
    RETIRED = "retired", "Retired (of a deleted link)"


class Code(models.Model):
    """The namespace of codes: one row for each code that is taken on a domain, for any reason.

    A retired code has no link. It is reserved for its former owner until ``held_until``.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    domain = models.ForeignKey(
        Domain,
        on_delete=models.CASCADE,
        null=True,
        related_name="codes",
        db_index=False,
        db_comment="Null: the default domain.",
    )
    code = models.CharField(max_length=MAX_CODE, db_comment="As in the path of the short URL.")
    kind = models.CharField(max_length=8, choices=CodeKind, db_comment="Why the code is taken.")
    link = models.ForeignKey(
        Link, on_delete=models.CASCADE, null=True, related_name="codes", db_comment="Null: retired."
    )
    # The SQL of the migration creates this constraint, with ON DELETE SET NULL.
    owner = models.ForeignKey(
        Workspace,
        on_delete=models.SET_NULL,
        db_constraint=False,
        null=True,
        db_index=False,
        db_comment="Former owner of a retired code.",
    )
    held_until = models.DateTimeField(null=True, db_comment="When a retired code becomes free.")

    class Meta:
        db_table_comment = "Every code that is taken on a domain, for any reason."
        constraints = [
            models.UniqueConstraint(fields=["domain", "code"], nulls_distinct=False, name="code_unique"),
            models.CheckConstraint(
                name="code_held_or_linked",
                # Retired: held, and without a link. Short, because each statement that inserts codes parses it.
                condition=models.Q(
                    Exact(models.Q(held_until=None), models.Q(link__isnull=False)),
                    Exact(models.Q(link=None), models.Q(kind="retired")),
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.code


class LinkHealth(models.Model):
    """What the checks of a link's destination have found. Links that are never checked have no row.

    Triggers forget it when the destination changes or the checks end, and keep ``Link.is_dead`` the same.
    """

    link = models.OneToOneField(
        Link,
        on_delete=models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="+",
        db_comment="The link.",
    )
    owner_id = models.BigIntegerField(db_comment="Owner of the link, for fair turns.")
    status = models.TextField(
        choices=HealthStatus,
        default=HealthStatus.UNKNOWN,
        db_default=HealthStatus.UNKNOWN,
        db_comment="unknown, healthy, blocked or dead.",
    )
    checked_at = models.DateTimeField(null=True, db_comment="Time of the last check. Null: none yet.")
    problem = models.TextField(null=True, db_comment="What the last check found. Null: nothing.")
    failures = models.SmallIntegerField(
        default=0, db_default=0, db_comment="Failed checks since one that found it healthy or blocked."
    )
    failing_since = models.DateTimeField(null=True, db_comment="The first of these failures. Null: none.")
    due_at = models.DateTimeField(null=True, db_comment="Time of the next check. Null: none.")
    is_requested = models.BooleanField(
        default=False, db_default=False, db_comment="Whether somebody asked for the next check."
    )

    class Meta:
        db_table_comment = "The health of the destinations of links."
        indexes = [
            models.Index(
                fields=["owner_id", "due_at"],
                condition=models.Q(due_at__isnull=False, is_requested=False),
                name="linkhealth_due",
            ),
            models.Index(
                fields=["due_at", "owner_id"],
                condition=models.Q(due_at__isnull=False, is_requested=False),
                name="linkhealth_soonest",
            ),
            models.Index(
                fields=["owner_id", "due_at"],
                condition=models.Q(is_requested=True),
                name="linkhealth_requested",
            ),
        ]


class CheckedHost(models.Model):
    """When the checks of all hosts of the installation may call a host again, and the robots.txt of an origin."""

    name = models.TextField(
        primary_key=True,
        db_comment="A registered domain or network, also with a workspace, or an origin: https://example.com.",
    )
    free_at = models.DateTimeField(db_comment="No request before this time; no use of robots after it.")
    planned_until = models.DateTimeField(null=True, db_comment="The last check that is planned. Null: none.")
    robots = models.TextField(
        null=True, db_comment="The robots.txt of an origin. Null: the row is of a host."
    )

    class Meta:
        db_table_comment = "Hosts that the checks of destinations have called."


class LinkBan(models.Model):
    """An operator's ban of a single link. ``bans.models.Ban`` bans hosts and accounts.

    Every lookup checks both, by ``links_is_banned`` in the database. A ban does not change the link, so lifting it
    restores the owner's settings exactly.
    """

    # SQL statements delete links without Django, so the migration defines this constraint, with ON DELETE CASCADE.
    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    link = models.OneToOneField(
        Link, on_delete=models.CASCADE, related_name="ban", db_constraint=False, db_comment="The banned link."
    )
    reason = models.CharField(max_length=500, blank=True, db_comment="The operator's note.")
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")

    class Meta:
        verbose_name, verbose_name_plural = "ban of a link", "bans of links"
        db_table_comment = "Operators' bans of single links."

    def __str__(self) -> str:
        return str(self.link)


class ClickCounter(models.Model):
    """The clicks of a link, in a separate table: a click must not rewrite the link's row and all its indexes.

    A trigger inserts the row with the link.
    """

    link = models.OneToOneField(
        "links.Link",
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="counter",
        db_comment="The link.",
    )
    owner = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_index=False, db_comment="Owner of the link."
    )
    clicks = models.BigIntegerField(default=0, db_comment="All clicks, imported ones included.")
    is_archived = models.BooleanField(default=False, db_default=False, db_comment="That of the link.")
    imported = models.BigIntegerField(
        db_default=0, db_comment="Clicks of imports, part of clicks. Reports contain those that have a day."
    )

    class Meta:
        db_table_comment = "Clicks of each link."
        indexes = [
            models.Index(
                fields=["owner", "clicks", "link"], include=["is_archived"], name="counter_owner_clicks"
            ),
            models.Index(
                fields=["owner", "clicks", "link"],
                condition=models.Q(is_archived=True),
                name="counter_owner_archived",
            ),
        ]


class VisitorKey(models.Model):
    """The random key of a link with ``max_clicks_per_visitor``, under which its visitors are hashed.

    `links_claim` creates it. A trigger deletes it and the link's VisitorClicks when the link is deleted or the
    setting is removed.
    """

    link = models.OneToOneField(
        "links.Link",
        on_delete=models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="+",
        db_comment="The link.",
    )
    key = models.UUIDField(
        db_default=RandomUUID(), editable=False, db_comment="Random key of the link's hashes."
    )

    class Meta:
        db_table_comment = "Keys of the visitor hashes of links with max_clicks_per_visitor."


class VisitorClicks(models.Model):
    """The number of clicks that one address has claimed of a link. ``visitor`` is a keyed hash; see VisitorKey."""

    pk = models.CompositePrimaryKey("link", "visitor")
    link = models.ForeignKey(
        "links.Link",
        on_delete=models.CASCADE,
        db_constraint=False,
        db_index=False,
        related_name="+",
        db_comment="The link.",
    )
    visitor = models.BinaryField(db_comment="Keyed hash of the address.")
    clicks = models.IntegerField(db_comment="Clicks claimed.")

    class Meta:
        db_table_comment = "Clicks that each visitor claimed of links with max_clicks_per_visitor."


class OwnerTotals(models.Model):
    """Precomputed totals of an owner's links, so that no request counts rows.

    The totals are spread over slots to prevent lock contention: requests write slots 0 to 7, drainers slots 8 to 15.
    The sum over an owner's slots is exact; a single slot may be negative. Triggers maintain the totals.

    ``changes`` counts the insertions, deletions and updates of the owner's rows in ``links_searchable``, updates of
    links that the history does not record, and the rows that move here from another owner. A row that moves to another
    owner only decreases ``links``. While both sums stay the same, every count of these rows is still valid.
    """

    pk = models.CompositePrimaryKey("owner", "slot")
    owner = models.ForeignKey(
        Workspace,
        on_delete=models.CASCADE,
        db_constraint=False,
        db_index=False,
        db_comment="The workspace.",
    )
    slot = models.SmallIntegerField(db_comment="Spreads concurrent writes.")
    links = models.BigIntegerField(default=0, db_comment="Links; may be negative in one slot.")
    active_links = models.BigIntegerField(default=0, db_comment="Active links, likewise.")
    archived_links = models.BigIntegerField(default=0, db_default=0, db_comment="Archived links, likewise.")
    archived_active_links = models.BigIntegerField(
        default=0, db_default=0, db_comment="Archived links that are active, likewise."
    )
    clicks = models.BigIntegerField(default=0, db_comment="Clicks, likewise.")
    changes = models.BigIntegerField(
        db_default=0, db_comment="Changes of the rows in links_searchable. Never decreases."
    )
    bytes = models.BigIntegerField(db_default=0, db_comment="Stored bytes of links and QR codes, likewise.")

    class Meta:
        db_table_comment = "Totals of each owner's links. Add up the slots."


class TagTotals(models.Model):
    """The number of an owner's links with each tag, spread over the slots 0 to 7 of ``OwnerTotals``.

    Triggers maintain the rows and delete those without links.
    """

    pk = models.CompositePrimaryKey("owner", "tag_key", "slot")
    owner = models.ForeignKey(
        Workspace,
        on_delete=models.CASCADE,
        db_constraint=False,
        db_index=False,
        db_comment="Owner of the links.",
    )
    tag_key = models.TextField(db_comment="Case-folded tag.")
    slot = models.SmallIntegerField(db_comment="Identifier of the link, modulo 8.")
    links = models.BigIntegerField(db_comment="Links with the tag.")
    active_links = models.BigIntegerField(db_comment="Active links with the tag.")
    archived_links = models.BigIntegerField(db_comment="Archived links with the tag.")
    archived_active_links = models.BigIntegerField(db_comment="Archived links with the tag that are active.")
    link_id = models.BigIntegerField(db_comment="The link that got the tag last; it may have lost it since.")

    class Meta:
        db_table_comment = "Number of links with each tag of an owner. Sum it over the slots."


class CreatedLinks(models.Model):
    """The number of links that an owner with a quota created in a month, including deleted links."""

    owner = models.OneToOneField(
        Workspace,
        on_delete=models.CASCADE,
        db_constraint=False,
        primary_key=True,
        db_comment="The workspace.",
    )
    month = models.DateField(db_comment="First day of the month (UTC).")
    links = models.IntegerField(db_comment="Links created, deleted ones included.")

    class Meta:
        db_table_comment = "Links that each workspace created in a month, for quotas."


class DeletedLink(models.Model):
    """The data that restore a deleted link: its row, its codes and its clicks.

    While this row exists, the link's routes, bans, visitors, clicks and roll-ups stay in their tables, and its owner
    keeps its codes. When the row is deleted without an undeletion, triggers delete the rest. Analytics and QR codes
    have their own triggers.
    """

    link_id = models.BigIntegerField(primary_key=True, db_comment="Internal key of the link.")
    public_id = models.UUIDField(unique=True, db_comment="API id of the link.")
    # The SQL of the migration creates this constraint, with ON DELETE CASCADE.
    owner = models.ForeignKey(
        "accounts.Workspace",
        on_delete=models.CASCADE,
        db_constraint=False,
        db_index=False,
        db_comment="Owner of the link.",
    )
    deleted_at = models.DateTimeField(db_default=Now(), db_index=True, db_comment="Time of the deletion.")
    link = models.JSONField(db_comment="The row of links_link.")
    codes = models.JSONField(db_comment="The rows of links_code: domain_id, code and kind.")
    clicks = models.BigIntegerField(db_comment="All clicks, imported ones included.")
    imported = models.BigIntegerField(db_comment="Clicks of imports, part of clicks.")

    class Meta:
        db_table_comment = "Deleted links that can be brought back for some days."
        indexes = [models.Index(fields=["owner", "deleted_at", "link_id"], name="deletedlink_owner_time")]

    def __str__(self) -> str:
        return str(self.public_id)


class Tag(models.Model):
    """What a workspace has decided about a tag: its spelling and its colour. Most tags have no row.

    Links store their tags themselves, and ``TagTotals`` counts them.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(
        default=new_public_id, unique=True, editable=False, db_comment="Id in the history."
    )
    # The SQL of the migration creates this constraint, with ON DELETE CASCADE.
    owner = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False, db_index=False, db_comment="The workspace."
    )
    key = models.TextField(db_comment="Case-folded tag.")
    name = models.TextField(db_comment="The tag as entered.")
    color = models.CharField(max_length=7, null=True, db_comment="#RRGGBB. Null: none was chosen.")

    class Meta:
        db_table_comment = "Tags with a colour or a chosen spelling."
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="tag_owner_key")]

    def __str__(self) -> str:
        return self.name


class TagAction(models.TextChoices):
    RENAMED = "renamed"
    MERGED = "merged"
    DELETED = "deleted"


class TagChangeStatus(models.TextChoices):
    RUNNING = "running"
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"


class TagChange(models.Model):
    """A change of a tag in all links of a workspace. Batches carry it out; housekeeping finishes what requests leave.

    The history has a row for each changed link, whose ``request_id`` is the id of this change. They undo it.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    # The SQL of the migration creates this constraint, with ON DELETE CASCADE.
    owner = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False, db_index=False, db_comment="The workspace."
    )
    action = models.TextField(choices=TagAction, db_comment="renamed, merged or deleted.")
    status = models.TextField(
        choices=TagChangeStatus, default=TagChangeStatus.RUNNING, db_comment="How far it is."
    )
    key = models.TextField(db_comment="Case-folded former tag.")
    name = models.TextField(db_comment="Former tag.")
    new_key = models.TextField(null=True, db_comment="Case-folded new tag. Null: deleted.")
    new_name = models.TextField(null=True, db_comment="New tag. Null: deleted.")
    color = models.CharField(max_length=7, null=True, db_comment="Colour of the former tag.")
    had_row = models.BooleanField(db_comment="Whether the former tag had a row in links_tag.")
    makes_row = models.BooleanField(db_comment="Whether the new tag had none.")
    author = models.JSONField(db_comment="Who made the change, for the history.")
    links = models.BigIntegerField(db_default=0, db_comment="Links that it has changed.")
    restored = models.BigIntegerField(db_default=0, db_comment="Links that its undoing has changed back.")
    position = models.BigIntegerField(db_comment="Row of the history after which its own begin or continue.")
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")

    class Meta:
        db_table_comment = "Renamed, merged and deleted tags, for some days."
        constraints = [
            models.UniqueConstraint(
                fields=["owner"],
                condition=models.Q(status__in=["running", "undoing"]),
                name="tagchange_one_at_a_time",
            )
        ]
        indexes = [models.Index(fields=["owner", "id"], name="tagchange_owner")]

    def __str__(self) -> str:
        return f"{self.name} {self.action}"

    @property
    def undoable_until(self) -> datetime:
        return self.created_at + timedelta(days=UNDO_DAYS)


class SavedView(models.Model):
    """A named filter and order of a workspace's list of links, or a named report: a campaign."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    # The SQL of the migration creates this constraint, with ON DELETE CASCADE.
    owner = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False, db_index=False, db_comment="The workspace."
    )
    name = models.CharField(max_length=60, db_comment="Unique within the workspace.")
    filters = models.JSONField(default=dict, db_comment="Parameters of the list, as texts.")
    report = models.JSONField(null=True, db_comment="Parameters of the report, as texts. Null: none.")
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")
    updated_at = models.DateTimeField(auto_now=True, editable=False, db_comment="Last change.")

    class Meta:
        db_table_comment = "Saved views of the lists of links, and of reports."
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="savedview_owner_name")]

    def __str__(self) -> str:
        return self.name


class UtmTemplate(models.Model):
    """Campaign parameters for new links of a workspace, and rules about them. Keys are those of ``Link.utm``."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    # The SQL of the migration creates this constraint, with ON DELETE CASCADE.
    owner = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False, db_index=False, db_comment="The workspace."
    )
    name = models.CharField(max_length=240, db_comment="Unique within the workspace.")
    values = models.JSONField(default=dict, db_comment="Values by parameter.")
    allowed = models.JSONField(default=dict, db_comment="Lists of allowed values by parameter.")
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")
    updated_at = models.DateTimeField(auto_now=True, editable=False, db_comment="Last change.")

    class Meta:
        db_table_comment = "Templates of campaign parameters."
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="utmtemplate_owner_name")]

    def __str__(self) -> str:
        return self.name


class FormerUtm(models.Model):
    """The utm parameters that a link had before the day ``until``, back to its row before.

    Triggers of links_link write the rows, move them with the link, and delete them with it.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    link_id = models.BigIntegerField(db_comment="The link.")
    owner_id = models.BigIntegerField(db_comment="Its workspace.")
    until = models.DateField(
        db_comment="The day (UTC) of the change. Its clicks count with what it ended with."
    )
    utm = models.JSONField(db_comment="As in links_link.")

    class Meta:
        db_table_comment = "Campaign parameters that links had on earlier days."
        constraints = [models.UniqueConstraint(fields=["link_id", "until"], name="formerutm_link_until")]
        indexes = [models.Index(fields=["owner_id", "link_id"], name="formerutm_owner_link")]

    def __str__(self) -> str:
        return f"{self.link_id}/{self.until}"


class Route(models.Model):
    """The URL to which a branch of a link led from ``since`` until ``until``, which is null for the current one.

    A branch is a rule or an entry of the split. Clicks are recorded with its ``number``: 1 to 15, or 0 for the link's
    own destination. A number belongs to one branch at a time, and is used again if no unused number is left. Rows of
    number 0 exist only for links whose destination has changed.

    A trigger of links_link writes the rows, and another deletes them with the link. Without a foreign key, deleting a
    link without branches costs no additional query per link.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    link_id = models.BigIntegerField(db_comment="The link.")
    number = models.SmallIntegerField(db_comment="Number of the branch within the link; 0: the link itself.")
    branch = models.UUIDField(null=True, db_comment="API id of the branch. Null for number 0.")
    name = models.TextField(db_comment="Name of the branch; empty for number 0.")
    url = models.TextField(db_comment="Canonical form.")
    since = models.DateTimeField(db_comment="Start of the period.")
    until = models.DateTimeField(null=True, db_comment="End of the period. Null: current.")

    class Meta:
        db_table_comment = "The URLs to which the branches of links led, with the periods."
        indexes = [
            models.Index(fields=["link_id", "number", "since"], name="route_link_number_since"),
            models.Index(
                fields=["link_id", "number"], condition=models.Q(until__isnull=True), name="route_current"
            ),
            models.Index(fields=["link_id", "branch", "since"], name="route_link_branch_since"),
        ]

    def __str__(self) -> str:
        return f"{self.link_id}/{self.number}"
