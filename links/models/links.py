"""Links, their codes, and the bans of single links."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Value
from django.db.models.functions import Now

from accounts.models import Workspace
from accounts.rights import CallerKey
from common.ids import new_public_id
from domains.models import Domain
from links.fields import UNIQUE, Device, RedirectType, ReferrerPolicy

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
        related_name="links",
        db_comment="Null: the default domain.",
    )
    short_code = models.CharField(max_length=MAX_CODE, editable=False, db_comment="Generated; never changes.")
    custom_code = models.CharField(max_length=MAX_CODE, null=True, blank=True, db_comment="Null: none.")
    original_url = models.TextField(editable=False, db_comment="Destination as entered.")
    target_url = models.TextField(
        null=True, blank=True, db_comment="Replaces original_url as the destination. As entered. Null: none."
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
    is_active = models.BooleanField(default=True, db_comment="The owner's switch.")
    starts_at = models.DateTimeField(null=True, blank=True, db_comment="Null: at once.")
    not_started_url = models.TextField(
        null=True, blank=True, db_comment="Where visitors go before starts_at. Canonical form. Null: 404."
    )
    expires_at = models.DateTimeField(null=True, blank=True, db_comment="Null: never.")
    expired_url = models.TextField(
        null=True,
        blank=True,
        db_comment="Where visitors go after the end or the last click. Canonical form. Null: the domain's, or 410.",
    )
    password = models.CharField(max_length=200, null=True, blank=True, editable=False, db_comment="Hash.")
    utm = models.JSONField(default=dict, blank=True, db_comment="utm parameters added to redirects.")
    forward_query = models.BooleanField(
        default=False, db_default=False, db_comment="Whether redirects add the visitor's parameters."
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
        max_length=400,
        null=True,
        blank=True,
        db_comment="Id in another system, unique in the workspace. Null: none.",
    )
    max_clicks = models.PositiveIntegerField(null=True, blank=True, db_comment="Null: no limit.")
    max_clicks_per_visitor = models.PositiveIntegerField(null=True, blank=True, db_comment="Null: no limit.")
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
        choices=RedirectType, default=RedirectType.FOUND, db_comment="HTTP status: 301 or 302."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")
    updated_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Last change.")

    objects = LinkQuerySet.as_manager()

    class Meta:
        db_table_comment = "Short links."
        indexes = [
            # Empty without teams: links of personal workspaces have no creator.
            models.Index(fields=["creator"], condition=models.Q(creator__isnull=False), name="link_creator"),
            # Links of the default domain cost nothing here: `links_owner_domain` serves lists of any domain.
            models.Index(fields=["domain"], condition=models.Q(domain__isnull=False), name="link_domain"),
            # With the owner, so that the links of a key are counted without reading them.
            models.Index(
                fields=["key_id", "owner"], condition=models.Q(key_id__isnull=False), name="link_key"
            ),
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
                condition=models.Q(kind="retired", link=None, held_until__isnull=False)
                | (~models.Q(kind="retired") & models.Q(link__isnull=False, held_until=None)),
            ),
        ]

    def __str__(self) -> str:
        return self.code


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
        db_table_comment = "Operators' bans of single links."

    def __str__(self) -> str:
        return str(self.link)
