"""Counts and sums about links, which triggers and SQL functions maintain.

The foreign keys without ``db_constraint`` are in the SQL of the migration, with ON DELETE CASCADE.
"""

from __future__ import annotations

from django.contrib.postgres.functions import RandomUUID
from django.db import models

from accounts.models import Workspace


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
    imported = models.BigIntegerField(
        db_default=0, db_comment="Clicks of imports, part of clicks. Reports contain those that have a day."
    )

    class Meta:
        db_table_comment = "Clicks of each link."
        indexes = [models.Index(fields=["owner", "clicks", "link"], name="counter_owner_clicks")]


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

    ``changes`` counts the insertions, deletions and updates of the owner's rows in ``links_searchable``, and the rows
    that move here from another owner. A row that moves to another owner only decreases ``links``. While both sums stay
    the same, every count of these rows is still valid.
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
