"""Accounts with their keys and sessions, the workspaces that they share, and the history of changes.

Workspaces own links, domains and QR codes. Accounts act in them as members with a role.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Value
from django.db.models.functions import Now

from accounts.code_styles import MAX_LENGTH, MIN_LENGTH, CodeAlphabet
from accounts.health_checks import HealthCheck
from accounts.rights import CallerKey, Plan, Role, Scope, scopes_of
from common.http.current_request import AuthMethod
from common.ids import new_public_id

INVITATION_DAYS = 7


class Workspace(models.Model):
    """The owner of links, domains, QR codes and quotas: an account's personal one, or that of a team.

    A trigger creates the personal workspace with the account. Both have the same number and the same public id. Teams
    take their numbers from the sequence of the accounts, so no team has the number of an account.
    """

    id = models.BigIntegerField(
        primary_key=True, db_comment="Internal key, from the sequence of the accounts."
    )
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    account = models.OneToOneField(
        "accounts.User",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="workspace",
        db_comment="The account of a personal workspace. Null: a team's workspace.",
    )
    name = models.CharField(max_length=100, db_comment="For people.")
    team_plan = models.CharField(
        "plan",
        max_length=10,
        choices=Plan,
        null=True,
        blank=True,
        db_column="plan",
        db_comment="free, pro or enterprise. Null: a personal workspace has the plan of its account.",
    )
    ignored_networks = ArrayField(
        models.CharField(max_length=43),
        default=list,
        db_default=Value([], output_field=ArrayField(models.CharField(max_length=43))),
        blank=True,
        db_comment="Networks whose visits do not count. Canonical form.",
    )
    health_check = models.TextField(
        choices=HealthCheck,
        default=HealthCheck.OFF,
        db_default=HealthCheck.OFF,
        db_comment="How often destinations are checked of links that do not say it: off, weekly or daily.",
    )
    code_length = models.PositiveSmallIntegerField(
        "length of generated codes",
        null=True,
        blank=True,
        validators=[MinValueValidator(MIN_LENGTH), MaxValueValidator(MAX_LENGTH)],
        db_comment="Characters of generated codes. Null: 7.",
    )
    code_alphabet = models.TextField(
        "alphabet of generated codes",
        choices=CodeAlphabet,
        null=True,
        blank=True,
        db_comment="full or readable, without characters that look alike. Null: full.",
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")

    # The key with scopes by which the caller acts here. Services stay within its limits. Not a column.
    key: CallerKey | None = None

    class Meta:
        db_table_comment = "Workspaces: the owners of links, domains and QR codes."
        constraints = [
            models.CheckConstraint(
                name="workspace_personal_or_team",
                condition=models.Q(account__isnull=False, account=models.F("id"), team_plan=None)
                | models.Q(account=None, team_plan__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.name if self.account is None else self.account.email

    @property
    def is_personal(self) -> bool:
        return self.account_id is not None

    @property
    def plan(self) -> str:
        # Not through the descriptor if authentication has stored the account: it takes ten calls.
        account = self._state.fields_cache.get("account") or self.account
        return self.team_plan or Plan.FREE if account is None else account.plan


class StorageLimit(models.Model):
    """What a plan allows a workspace to store. Triggers of `links` and `qrcodes` enforce it."""

    plan = models.CharField(
        max_length=10, choices=Plan, primary_key=True, db_comment="free, pro or enterprise."
    )
    bytes = models.BigIntegerField(db_comment="Stored bytes that the plan allows.")

    class Meta:
        db_table_comment = "STORAGE_MB_* of the host that started last, for triggers. No row: no limit."


class Member(models.Model):
    """An account in a workspace. A personal workspace has one member, its account, as the owner."""

    pk = models.CompositePrimaryKey("workspace", "user")
    workspace = models.ForeignKey(
        Workspace,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="members",
        db_comment="The workspace.",
    )
    user = models.ForeignKey(
        "accounts.User", on_delete=models.CASCADE, related_name="memberships", db_comment="The account."
    )
    role = models.CharField(max_length=10, choices=Role, db_comment="viewer, editor, admin or owner.")
    created_at = models.DateTimeField(db_default=Now(), db_comment="When the account joined.")

    class Meta:
        db_table_comment = "Members of workspaces and their roles."


class Invitation(models.Model):
    """An offer to join a workspace. Its acceptance deletes the row, so that it works once."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="invitations", db_comment="The workspace."
    )
    role = models.CharField(max_length=10, choices=Role, db_comment="The role of whoever accepts it.")
    email = models.EmailField(
        max_length=254, blank=True, db_comment="The account that may accept it, in lower case. Empty: any."
    )
    digest = models.BinaryField(max_length=32, unique=True, db_comment="SHA-256 digest of the token.")
    invited_by = models.ForeignKey(
        "accounts.User", on_delete=models.CASCADE, related_name="+", db_comment="The member who invited."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")
    expires_at = models.DateTimeField(
        db_default=Now() + timedelta(days=INVITATION_DAYS),
        editable=False,
        db_comment="When the token expires.",
    )

    class Meta:
        db_table_comment = "Pending invitations to workspaces."


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
    language = models.CharField(
        max_length=3, null=True, blank=True, db_comment="Of mails to the account; null: that of the request."
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

    @property
    def full_name(self) -> str:
        """First and last name; empty without either."""
        return f"{self.first_name} {self.last_name}".strip()

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

    Sealed and bound to the owner, the key and the request, so that it opens only for the same request. A migration
    creates the foreign key, with ON DELETE CASCADE.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    owner = models.ForeignKey(
        Workspace,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        db_constraint=False,
        db_comment="The personal workspace of the account that sent the request, or the workspace of its key.",
    )
    key_digest = models.BinaryField(max_length=32, db_comment="Digest of the Idempotency-Key.")
    sealed = models.BinaryField(db_comment="The response, encrypted.")
    created_at = models.DateTimeField(
        db_default=Now(), db_index=True, db_comment="When the request was committed."
    )

    class Meta:
        db_table_comment = "Stored responses to requests with an Idempotency-Key."
        constraints = [models.UniqueConstraint(fields=["owner", "key_digest"], name="idempotent_once")]


MAX_KEY_NAME = 100
# Of the issuer, the audience and the subject of a token.
MAX_TOKEN_TEXT = 500


class ScopedKey(models.Model):
    """A key that acts in one workspace: for a member, with some of the member's permissions, or for the workspace.

    One of the workspace has no account, so it outlives the membership of its creator. A migration adds a foreign key
    from workspace and member to the membership, so the end of a membership deletes the member's keys of this
    workspace. Another one does the same for the domain.

    Instead of having a text of its own, a key may name an issuer, whose tokens then act as the key
    (`accounts.token_issuers`).
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
        null=True,
        related_name="scoped_keys",
        db_comment="The member who created it, and for whom it acts. Null: it belongs to the workspace.",
    )
    name = models.CharField(max_length=MAX_KEY_NAME, db_comment="For people.")
    scopes = models.PositiveSmallIntegerField(
        db_comment="One bit for each scope, in the order of their list."
    )
    # Not a ForeignKey: accounts must not import domains.
    domain_id = models.BigIntegerField(
        null=True, db_comment="Limits it to the links on this domain. Null: any domain."
    )
    only_own = models.BooleanField(db_comment="Whether it is limited to the links that it created.")
    digest = models.BinaryField(
        max_length=32,
        null=True,
        unique=True,
        db_comment="SHA-256 digest, for lookup. Null: tokens of the issuer act as the key.",
    )
    issuer = models.TextField(
        null=True, db_comment="URL that tokens have as iss. Null: the key has a digest."
    )
    audience = models.TextField(null=True, db_comment="What tokens have as aud.")
    subject = models.TextField(null=True, db_comment="What tokens have as sub; * stands for any characters.")
    jwks = models.JSONField(
        null=True, db_comment="Public keys of the issuer (RFC 7517). Null: the issuer publishes them."
    )
    previous_digest = models.BinaryField(
        max_length=32, null=True, db_comment="Digest of the key before its rotation, while that one works."
    )
    previous_until = models.DateTimeField(null=True, db_comment="When the former key stops working.")
    expires_at = models.DateTimeField(null=True, db_comment="When the key expires. Null: never.")
    last_used_at = models.DateTimeField(null=True, db_comment="Last use, exact to a minute. Null: never.")
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")

    class Meta:
        db_table_comment = (
            "API keys with scopes. Each has the digest of its key only, or an issuer of tokens."
        )
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
            models.UniqueConstraint(
                fields=["issuer", "audience", "subject", "workspace"],
                condition=models.Q(issuer__isnull=False),
                name="scopedkey_issuer",
            ),
            models.CheckConstraint(
                name="scopedkey_text_or_issuer",
                condition=models.Q(
                    digest__isnull=False, issuer=None, audience=None, subject=None, jwks__isnull=True
                )
                | models.Q(
                    digest=None,
                    previous_digest=None,
                    issuer__isnull=False,
                    audience__isnull=False,
                    subject__isnull=False,
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def scope_list(self) -> list[Scope]:
        return scopes_of(self.scopes)


class LoggedRequest(models.Model):
    """An API request of a key, for the owners of its workspace: no body, no address and no query.

    Workers write them in batches, see `accounts.request_log`. A migration creates the foreign key, with ON DELETE
    CASCADE.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    owner = models.ForeignKey(
        Workspace,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        db_constraint=False,
        db_comment="The workspace in which the key acted.",
    )
    key_id = models.UUIDField(
        null=True, db_comment="API id of the key with scopes; it may be deleted. Null: an account's own key."
    )
    method = models.CharField(max_length=10, db_comment="HTTP method.")
    route = models.CharField(max_length=200, db_comment="Path in the API's description: /api/urls/{id}.")
    status = models.PositiveSmallIntegerField(db_comment="HTTP status.")
    code = models.CharField(max_length=60, null=True, db_comment="Code of the error. Null: without an error.")
    request_id = models.CharField(max_length=64, db_comment="X-Request-ID.")
    milliseconds = models.FloatField(db_comment="How long the service took.")
    responded_at = models.DateTimeField(db_comment="Time of the response.")

    class Meta:
        db_table_comment = "API requests of keys."
        indexes = [models.Index(fields=["owner", "id"], name="loggedrequest_owner")]

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.status}"


class HistorySize(models.Model):
    """About the size of a history: of its rows, those that were deleted for their age may still be counted.

    A migration creates the foreign key, with ON DELETE CASCADE.
    """

    owner = models.OneToOneField(
        "accounts.Workspace",
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="+",
        db_constraint=False,
        db_comment="The workspace.",
    )
    bytes = models.BigIntegerField(db_comment="At least the bytes of its changes up to counted_to.")
    counted_to = models.BigIntegerField(db_comment="The last change that was added to bytes.")

    class Meta:
        db_table_comment = "About the size of the history of each workspace, for housekeeping."


class Change(models.Model):
    """One change of a link, a domain, a key, a session or an account, written in the transaction of the change.

    Triggers and services write the rows with the SQL function ``accounts_record_change``. Another trigger deletes them
    with their owner. ``before`` and ``after`` have the changed fields with the names and values of the API, without
    secrets and addresses. The foreign keys have no constraint: the history outlives its actors, and a change must not
    lock their rows.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(db_default=RandomUUID(), editable=False, db_comment="API id.")
    owner = models.ForeignKey(
        "accounts.Workspace",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
        db_comment="Owner of the changed object.",
    )
    changed_at = models.DateTimeField(db_default=Now(), db_comment="Time of the change.")
    actor = models.ForeignKey(
        "accounts.User",
        on_delete=models.DO_NOTHING,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
        db_comment="The account that made the change; it may be deleted. Null: the service or a workspace's key.",
    )
    via = models.CharField(
        max_length=10,
        choices=[(method.value, method.value) for method in AuthMethod],
        db_comment="api_key, token, operator (in the admin), page (under /accounts/) or service.",
    )
    key_id = models.UUIDField(
        null=True, db_comment="API id of the key with scopes that the actor used; it may be deleted."
    )
    token_issuer = models.TextField(
        null=True, db_comment="The iss of the token that acted as the key. Null: the key itself."
    )
    token_subject = models.TextField(null=True, db_comment="The sub of that token.")
    request_id = models.CharField(max_length=64, db_comment="X-Request-ID; empty without a request.")
    trace_id = models.CharField(
        max_length=32, null=True, db_comment="The trace of the traceparent from a trusted proxy. Null: none."
    )
    object_id = models.UUIDField(db_comment="API id of the changed object; it may be deleted.")
    action = models.CharField(max_length=40, db_comment="Kind of object and of change: link.updated.")
    before = models.JSONField(db_comment="Former values of the changed fields.")
    after = models.JSONField(db_comment="New values of the changed fields.")
    # Set by `accounts.history.list_changes`.
    subject: str | None = None

    class Meta:
        db_table_comment = "Who changed what: one row for each change."
        indexes = [
            models.Index(fields=["owner", "id"], name="change_owner"),
            models.Index(fields=["owner", "actor", "id"], name="change_owner_actor"),
            models.Index(fields=["owner", "action", "id"], name="change_owner_action"),
            models.Index(fields=["object_id", "id"], name="change_object"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.object_id}"
