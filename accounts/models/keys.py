"""Keys with scopes. An account's main key is `accounts.models.ApiKey`."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models.workspaces import Workspace
from accounts.rights import Scope, scopes_of
from common.ids import new_public_id

MAX_NAME = 100


class ScopedKey(models.Model):
    """A key that acts for its creator in one workspace, with some of the creator's permissions there.

    A migration adds a foreign key from workspace and creator to the membership, so the end of a membership deletes the
    member's keys of this workspace. Another one does the same for the domain.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    workspace = models.ForeignKey(
        Workspace,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="keys",
        db_comment="The workspace in which it acts.",
    )
    user = models.ForeignKey(
        "accounts.User",
        on_delete=models.CASCADE,
        related_name="scoped_keys",
        db_comment="The member who created it, and for whom it acts.",
    )
    name = models.CharField(max_length=MAX_NAME, db_comment="For people.")
    scopes = models.PositiveSmallIntegerField(
        db_comment="One bit for each scope, in the order of their list."
    )
    # Not a ForeignKey: accounts must not import domains.
    domain_id = models.BigIntegerField(
        null=True, db_comment="Limits it to the links on this domain. Null: any domain."
    )
    only_own = models.BooleanField(db_comment="Whether it is limited to the links that it created.")
    digest = models.BinaryField(max_length=32, unique=True, db_comment="SHA-256 digest, for lookup.")
    previous_digest = models.BinaryField(
        max_length=32, null=True, db_comment="Digest of the key before its rotation, while that one works."
    )
    previous_until = models.DateTimeField(null=True, db_comment="When the former key stops working.")
    expires_at = models.DateTimeField(null=True, db_comment="When the key expires. Null: never.")
    last_used_at = models.DateTimeField(null=True, db_comment="Last use, exact to a minute. Null: never.")
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")

    class Meta:
        db_table_comment = "API keys with scopes. Each has the digest of its key only."
        indexes = [models.Index(fields=["workspace", "user"], name="scopedkey_membership")]
        constraints = [
            models.UniqueConstraint(
                fields=["previous_digest"],
                condition=models.Q(previous_digest__isnull=False),
                name="scopedkey_previous_digest",
            ),
            models.CheckConstraint(
                name="scopedkey_grace",
                condition=models.Q(previous_digest=None, previous_until=None)
                | models.Q(previous_digest__isnull=False, previous_until__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def scope_list(self) -> list[Scope]:
        return scopes_of(self.scopes)
