"""Sending of mails, with limits: strangers and members can cause them, and must not flood a mailbox or the server."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage

from limits.attempts import Limit, spend_attempt

MAILS_TO_ADDRESS = Limit(attempts=5, seconds=60 * 60)
MAILS_BY_CAUSE = Limit(attempts=20, seconds=60 * 60)

log = logging.getLogger(__name__)


def spend_mail(*, cause: str, email: str) -> None:
    """Count a mail before it is sent. ``cause`` is a network or an account. Raises TooManyAttempts."""
    spend_attempt(f"mails caused by {cause}", MAILS_BY_CAUSE)
    spend_attempt(f"mails to {email.lower()}", MAILS_TO_ADDRESS)


def subject_of_mail(subject: str) -> str:
    return f"[{settings.BRAND_NAME or settings.BASE_HOST}] {subject}"


def signature() -> str:
    """The end of each mail: the operator's name, and the host of its links."""
    return "\n".join(filter(None, [settings.BRAND_NAME, settings.BASE_HOST]))


def send_mail(email: str, subject: str, text: str) -> bool:
    """Return whether the server accepted the mail. Waits up to EMAIL_TIMEOUT, so call it outside transactions."""
    message = EmailMessage(subject_of_mail(subject), f"{text}\n\n{signature()}\n", to=[email])
    try:
        message.send()
    except (OSError, SMTPException):
        log.exception("A mail could not be sent.")
        return False
    return True
