from __future__ import annotations

import secrets
from dataclasses import fields

from django.db import models
from django.db.models.functions import Now

from accounts.models import Workspace
from common.ids import new_public_id
from links.models import Link, limits_of
from qrcodes.design import MAX_FRAME_TEXT, Design, FramePosition, ImageFormat, Level, Style


def new_token() -> str:
    """128 random bits: the URL of an image is its only credential."""
    return secrets.token_urlsafe(16)


class DesignFields(models.Model):
    """The columns of a design, named like the fields of `Design`."""

    size = models.PositiveSmallIntegerField(db_comment="Width in pixels.")
    level = models.CharField(max_length=1, choices=Level, db_comment="Error correction: L, M, Q or H.")
    foreground = models.CharField(max_length=7, db_comment="Colour, #RRGGBB.")
    background = models.CharField(max_length=7, db_comment="Colour, #RRGGBB.")
    margin = models.PositiveSmallIntegerField(db_comment="Quiet zone, in modules.")
    style = models.CharField(max_length=7, choices=Style, db_comment="square, rounded or dots.")
    logo = models.BinaryField(null=True, db_comment="Image file; null: none.")
    has_logo = models.GeneratedField(
        expression=models.Q(logo__isnull=False),  # type: ignore[arg-type] # the stubs know no conditions
        output_field=models.BooleanField(),
        db_persist=True,
        db_comment="Whether there is a logo.",
    )
    width_mm = models.PositiveSmallIntegerField(null=True, db_comment="Printed width in mm; null: by size.")
    frame_text = models.CharField(
        max_length=MAX_FRAME_TEXT, null=True, db_comment="Call to action in the frame; null: no frame."
    )
    frame_position = models.CharField(
        max_length=5, choices=FramePosition, db_comment="Place of the text: below or above."
    )

    class Meta:
        abstract = True


class QrCodeQuerySet(models.QuerySet["QrCode"]):
    def visible_to(self, owner: Workspace) -> QrCodeQuerySet:
        """The QR codes of the links within the limits of the caller's key."""
        return self.filter(owner=owner, **limits_of(owner.key, "link__"))


class QrCode(DesignFields):
    """A QR code. It may have been printed, so its row never changes."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    token = models.CharField(
        max_length=22, default=new_token, editable=False, db_comment="Secret part of the image's URL."
    )
    # SQL statements delete links without Django, so the migration creates this constraint, with ON DELETE CASCADE.
    link = models.ForeignKey(
        Link,
        on_delete=models.CASCADE,
        related_name="qr_codes",
        db_constraint=False,
        db_index=False,
        db_comment="The link.",
    )
    owner = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_index=False, db_comment="Owner of the link."
    )
    digest = models.BinaryField(db_comment="Digest of content and design.")
    content = models.TextField(db_comment="The text in the code.")
    format = models.CharField(max_length=4, choices=ImageFormat, db_comment="png, svg, jpeg or pdf.")
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")

    objects = QrCodeQuerySet.as_manager()

    class Meta:
        db_table_comment = "QR codes. Rows never change, because a code may be printed."
        verbose_name = "QR code"
        constraints = [
            models.UniqueConstraint(fields=["link", "digest"], name="qrcode_once"),
            models.UniqueConstraint(fields=["token"], name="qrcode_token"),
        ]
        indexes = [models.Index(fields=["owner", "-id"], name="qrcode_owner")]

    def __str__(self) -> str:
        return self.content

    @property
    def design(self) -> Design:
        shown = {field.name: getattr(self, field.name) for field in fields(Design)}
        return Design(**{**shown, "logo": None if self.logo is None else bytes(self.logo)})


MAX_DESIGN_NAME = 60


class SavedDesign(DesignFields):
    """A design that the members of a workspace give to their codes. Codes have copies, so none depends on it."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    # Workspaces too are deleted by SQL statements, so this constraint is like that of links.
    owner = models.ForeignKey(
        Workspace,
        on_delete=models.CASCADE,
        related_name="qr_designs",
        db_constraint=False,
        db_index=False,
        db_comment="The workspace.",
    )
    name = models.CharField(max_length=MAX_DESIGN_NAME, db_comment="Name, unique in the workspace.")
    is_default = models.BooleanField(db_comment="Whether new codes begin with it.")
    brand_logo = models.BooleanField(
        db_comment="Whether codes have the operator's logo without one of their own."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")
    updated_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Time of the last change.")

    class Meta:
        db_table_comment = "Saved designs of QR codes."
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="qrdesign_name"),
            models.UniqueConstraint(
                fields=["owner"], condition=models.Q(is_default=True), name="qrdesign_default"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class DeletedQrCode(models.Model):
    """A QR code of a deleted link that can still be undeleted. Triggers write and delete the rows."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    link_id = models.BigIntegerField(db_index=True, db_comment="The deleted link.")
    code = models.JSONField(db_comment="The row of qrcodes_qrcode.")

    class Meta:
        db_table_comment = "QR codes of deleted links that can be brought back."
