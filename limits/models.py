"""The tables of limits. All are unlogged in the database; see the migration."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.crypto import salted_hmac


class AttemptLog(models.Model):
    """The times of recent attempts or of running calls, oldest first. ``subject`` is a keyed digest."""

    subject = models.BinaryField(max_length=32, primary_key=True, db_comment="Keyed digest of the subject.")
    attempts = ArrayField(models.DateTimeField(), db_comment="Their times, oldest first.")

    class Meta:
        db_table_comment = "Recent attempts and running calls of each subject. Unlogged."


class RequestCount(models.Model):
    """The number of requests of a subject in its current minute."""

    subject = models.BinaryField(
        max_length=32, primary_key=True, db_comment="Id of an account, or keyed digest of a network."
    )
    started = models.DateTimeField(db_comment="Start of the minute.")
    requests = models.IntegerField(db_comment="Requests since then.")

    class Meta:
        db_table_comment = "Requests of each subject in its current minute. Unlogged."


class KnownNetwork(models.Model):
    """A network from which a secret was entered correctly."""

    subject = models.BinaryField(
        max_length=32, primary_key=True, db_comment="Keyed digest of network and secret."
    )
    until = models.DateTimeField(db_index=True, db_comment="When the network is forgotten.")

    class Meta:
        db_table_comment = "Networks from which a secret was entered correctly. Unlogged."


def digest_subject(subject: str) -> bytes:
    """Return a keyed digest, so that the tables contain no e-mail or network address."""
    return salted_hmac("limits.attempts", subject, secret=settings.SECRET_KEY, algorithm="sha256").digest()
