"""The history of the URLs to which links led."""

from __future__ import annotations

from django.db import models


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
