"""Accounts, their main keys and sessions, and the stored responses to their requests."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Now

from accounts.rights import Plan
from common.ids import new_public_id


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=(username or "").lower())

    def create_user(self, email: str, password: str, **fields: Any) -> User:
        user = self.model(email=email.lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str, **fields: Any) -> User:
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):
    """An account. Its e-mail address is its login, stored in lower case, so that one mailbox is one account."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(
        default=new_public_id, unique=True, editable=False, db_comment="Id in tokens and in the API."
    )
    email = models.EmailField(max_length=254, unique=True, db_comment="Login, in lower case.")
    first_name = models.CharField(max_length=100, blank=True, db_comment="May be empty.")
    last_name = models.CharField(max_length=100, blank=True, db_comment="May be empty.")
    plan = models.CharField(
        max_length=10, choices=Plan, default=Plan.FREE, db_comment="free, pro or enterprise."
    )
    is_active = models.BooleanField(default=True, db_comment="False: no key, token or session works.")
    is_staff = models.BooleanField(default=False, db_comment="Whether the account may open the admin.")
    is_staff_by_provider = models.BooleanField(
        "staff by single sign-on",
        default=False,
        db_default=False,
        help_text="The provider granted the staff status. It holds only in sessions that the provider opened.",
        db_comment="Whether is_staff holds only in sessions that were opened with the OpenID provider.",
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")

    class Meta:
        db_table_comment = "Accounts. An account signs in with its e-mail address."

    USERNAME_FIELD = "email"
    objects: ClassVar[UserManager] = UserManager()

    def __str__(self) -> str:
        return self.email

    def clean_fields(self, exclude: Collection[str] | None = None) -> None:
        # Before the length check: some letters are longer in lower case.
        self.email = self.normalize_username(self.email).lower()
        super().clean_fields(exclude)


class ApiKey(models.Model):
    """The only key of an account: a digest for lookup, and a sealed copy that its owner can read."""

    user = models.OneToOneField(
        User,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="api_key",
        db_comment="The account. It has one key.",
    )
    digest = models.BinaryField(max_length=32, unique=True, db_comment="SHA-256 digest, for lookup.")
    sealed = models.BinaryField(max_length=128, db_comment="The key, encrypted for its owner.")
    created_at = models.DateTimeField(db_default=Now(), db_comment="Creation time.")
    read_at = models.DateTimeField(null=True, db_comment="When its owner first read it. Null: not yet.")

    class Meta:
        db_table_comment = "The API key of each account."


def new_handle() -> bytes:
    """A random handle of the recommended and greatest length (WebAuthn 3, 14.6.1)."""
    return secrets.token_bytes(64)


class PasskeyHandle(models.Model):
    """The user handle that an account's passkeys carry."""

    user = models.OneToOneField(
        User,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="passkey_handle",
        db_comment="The account.",
    )
    handle = models.BinaryField(
        max_length=64,
        unique=True,
        default=new_handle,
        db_comment="Random. Reveals nothing about the account.",
    )

    class Meta:
        db_table_comment = "User handles of passkeys."


class EndReason(models.TextChoices):
    """Why a session ended before it expired."""

    LOGOUT = "logout", "Logout"
    REVOKED = "revoked", "Ended from another session"
    PASSWORD = "password", "Change of password"
    REUSE = "reuse", "A refresh token was used twice"
    LIMIT = "limit", "Too many sessions"


class Session(models.Model):
    """A login to the API: the family of all tokens that follow from it. Its tokens are derived, not stored.

    A browser that signed in through a page of the service has at most one: it lives and ends with the browser's
    session, and has access tokens only.

    The row holds no address. It outlives its end by up to a week, so that an operator can see the reason; that
    of a browser by as long as the browser's session would have lasted.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(
        default=new_public_id, unique=True, editable=False, db_comment="Id in tokens and in the API."
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, db_comment="The account.")
    password_fingerprint = models.CharField(
        max_length=32, db_comment="Digest of the password hash under which its tokens are valid."
    )
    generation = models.IntegerField(
        default=1, db_comment="Number of the current tokens. Each refresh adds 1."
    )
    issued_at = models.DateTimeField(
        db_comment="When the current tokens were issued, by the clock of the host that issued them."
    )
    rotated_at = models.DateTimeField(
        db_default=Now(), db_comment="The same by the clock of the database, for the grace period."
    )
    created_at = models.DateTimeField(db_default=Now(), db_comment="Time of the login.")
    last_used_at = models.DateTimeField(db_default=Now(), db_comment="Last use, exact to a minute.")
    user_agent = models.CharField(
        max_length=200, blank=True, db_comment="User-Agent of the login, shortened."
    )
    browser_session = models.CharField(
        max_length=40,
        null=True,
        unique=True,
        db_comment="The django_session of the browser that it belongs to; null: it began with a login to the API.",
    )
    confirmed_at = models.DateTimeField(
        null=True,
        db_comment="When the user of a browser last logged in or confirmed it again. Null: at the login.",
    )
    expires_at = models.DateTimeField(db_index=True, db_comment="When its refresh tokens expire.")
    ended_at = models.DateTimeField(null=True, db_comment="When it ended early. No token works since.")
    end_reason = models.CharField(
        max_length=10, choices=EndReason, null=True, db_comment="logout, revoked, password, reuse or limit."
    )

    class Meta:
        db_table_comment = "Sessions of the API. Those of browsers are in django_session."
        indexes = [
            # A login reads the live sessions of its account, however many have ended.
            models.Index(fields=["user", "id"], condition=models.Q(ended_at=None), name="session_live"),
            models.Index(
                fields=["ended_at"], condition=models.Q(ended_at__isnull=False), name="session_ended"
            ),
        ]


class StoredResponse(models.Model):
    """The response to a request with an idempotency key, committed together with the request's work.

    Sealed and bound to the account, the key and the request, so that it opens only for the same request.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    owner = models.ForeignKey(
        User, on_delete=models.CASCADE, db_index=False, db_comment="The account that sent the request."
    )
    key_digest = models.BinaryField(max_length=32, db_comment="Digest of the Idempotency-Key.")
    sealed = models.BinaryField(db_comment="The response, encrypted.")
    created_at = models.DateTimeField(
        db_default=Now(), db_index=True, db_comment="When the request was committed."
    )

    class Meta:
        db_table_comment = "Stored responses to requests with an Idempotency-Key."
        constraints = [models.UniqueConstraint(fields=["owner", "key_digest"], name="idempotent_once")]
