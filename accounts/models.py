from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from accounts.plans import Plan
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
    """An account. The e-mail is its login and is kept in lower case, so that one mailbox is one account."""

    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False)
    email = models.EmailField(max_length=254, unique=True)
    first_name = models.CharField(max_length=100, blank=True)
    last_name = models.CharField(max_length=100, blank=True)
    plan = models.CharField(max_length=10, choices=Plan, default=Plan.FREE)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    USERNAME_FIELD = "email"
    objects: ClassVar[UserManager] = UserManager()

    def __str__(self) -> str:
        return self.email

    def clean(self) -> None:
        super().clean()
        self.email = self.email.lower()


class ApiKey(models.Model):
    """The one key of an account: a digest to find it by, and a sealed copy for its owner to read again."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="api_key")
    digest = models.BinaryField(max_length=32, unique=True)
    sealed = models.BinaryField(max_length=128)
    created_at = models.DateTimeField(db_default=Now())


class AttemptLog(models.Model):
    """When the last attempts at something were made, oldest first. The subject is a keyed digest, so that the
    table names no visitor. Unlogged in the database: losing it in a crash costs a few extra attempts."""

    subject = models.BinaryField(max_length=32, primary_key=True)
    attempts = ArrayField(models.DateTimeField())


class RequestCount(models.Model):
    """How many requests a subject has made since its present minute began. Keyed and unlogged like the attempts."""

    subject = models.BinaryField(max_length=32, primary_key=True)
    started = models.DateTimeField()
    requests = models.IntegerField()


class IdempotentAnswer(models.Model):
    """What was answered to a request that named a key: written by the transaction that carried it out, or not at all.

    Sealed, bound to the account, the key and the request: the answer to one request is not readable as another's.
    """

    owner = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False)
    key_digest = models.BinaryField(max_length=32)
    sealed = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key_digest"], name="idempotent_once")]
