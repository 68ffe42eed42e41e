from __future__ import annotations

import secrets
from dataclasses import fields

from django.db import models
from django.db.models.functions import Now

from accounts.models import User
from common.ids import new_public_id
from links.models import Link
from qrcodes.design import Design, ImageFormat, Level, Style


def new_token() -> str:
    """128 bits: who knows the address of an image was given it."""
    return secrets.token_urlsafe(16)


class QrCode(models.Model):
    """A code that may have been printed: nothing of it ever changes."""

    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False)
    token = models.CharField(max_length=22, default=new_token, editable=False)
    # Links are deleted by statements of their own, past Django: the constraint is the migration's, and cascades.
    link = models.ForeignKey(
        Link, on_delete=models.CASCADE, related_name="qr_codes", db_constraint=False, db_index=False
    )
    owner = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False)
    digest = models.BinaryField(help_text="Of the content and the whole design.")
    content = models.TextField(help_text="What readers read.")
    size = models.PositiveSmallIntegerField()
    format = models.CharField(max_length=4, choices=ImageFormat)
    level = models.CharField(max_length=1, choices=Level)
    foreground = models.CharField(max_length=7)
    background = models.CharField(max_length=7)
    margin = models.PositiveSmallIntegerField()
    style = models.CharField(max_length=7, choices=Style)
    logo = models.BinaryField(null=True)
    has_logo = models.GeneratedField(
        expression=models.Q(logo__isnull=False),  # type: ignore[arg-type] # the stubs know no conditions
        output_field=models.BooleanField(),
        db_persist=True,
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
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
