"""Sending of mails, with limits: strangers and members can cause them, and must not flood a mailbox or the server."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from functools import partial
from smtplib import SMTPNotSupportedError, SMTPRecipientsRefused, SMTPResponseException
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, override

from accounts.models import User
from common.errors import Conflict, TooManyAttempts
from common.http.current_request import accepted_languages
from common.http.languages import page_language
from limits.attempts import Limit, spend_attempt

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

MAILS_TO_ADDRESS = Limit(attempts=5, seconds=60 * 60)
MAILS_BY_CAUSE = Limit(attempts=20, seconds=60 * 60)
# Apart from the others, so that nobody can use up the limit before they cause one.
NOTICES_TO_OWNER = Limit(attempts=20, seconds=60 * 60)

# Answers of a mail server that requires another login (RFC 4954, 6) or does not know the recipient (RFC 5321, 4.2.3).
_NO_ACCESS = {530, 534, 535, 538}
_NO_RECIPIENT = {550, 551, 553}

# In other addresses, which quote the local part or contain "/", whoever chose the address can write a text or a link.
_PLAIN_ADDRESS = re.compile(r"[\w.+'-]+@[\w.-]+")

log = logging.getLogger(__name__)


class NoMail(Conflict):
    code = "no_mail"
    message = "This service sends no mails: its operator has not set EMAIL_URL."


class MailProblem(Enum):
    """Why the mail server did not accept a mail."""

    NO_RESPONSE = auto()
    BUSY = auto()
    NO_ACCESS = auto()
    ADDRESS = auto()
    REFUSED = auto()


def spend_mail(*, cause: str, email: str) -> None:
    """Count a mail before it is sent. ``cause`` is a network or an account. Raises TooManyAttempts."""
    spend_attempt(f"mails caused by {cause}", MAILS_BY_CAUSE)
    spend_attempt(f"mails to {email.lower()}", MAILS_TO_ADDRESS)


def is_plain(email: str) -> bool:
    """Whether the address can be part of a text for others: it reads as an address and as nothing else."""
    return _PLAIN_ADDRESS.fullmatch(email) is not None


def subject_of_mail(subject: str) -> str:
    return f"[{settings.BRAND_NAME or settings.BASE_HOST}] {subject}"


def signature() -> str:
    """The end of each mail: the operator's name, and the host of its links."""
    return "\n".join(filter(None, [settings.BRAND_NAME, settings.BASE_HOST]))


def signed_mail(email: str, subject: str, text: str) -> EmailMessage:
    return EmailMessage(subject_of_mail(subject), f"{text}\n\n{signature()}\n", to=[email])


def send_mail(email: str, subject: str, text: str) -> MailProblem | None:
    """Sends a mail with our signature. None if the server accepted it; call it outside transactions."""
    return deliver(signed_mail(email, subject, text))


@contextmanager
def mail_language(recipient: User | None) -> Iterator[None]:
    """Translate texts into the language of the recipient's account, else into that of the request."""
    chosen = None if recipient is None else recipient.language
    with override(page_language(chosen or accepted_languages.get())):
        yield


def may_notify(user: User) -> bool:
    """Count a mail to the owner of an account. False above the limit: the owner has received many by then."""
    try:
        spend_attempt(f"notices to {user.pk}", NOTICES_TO_OWNER)
    except TooManyAttempts:
        return False
    return True


def notify(user: User, subject: StrPromise, *texts: StrPromise, **values: int) -> None:
    """Tell the owner of an account what happened to it, once the caller's transaction is committed.

    ``texts``: sentences with ``values`` in braces. Nothing waits for the mail to succeed.
    """
    if not (settings.SENDS_MAIL and may_notify(user)):
        return
    when = timezone.now().strftime("%Y-%m-%d %H:%M UTC")
    with mail_language(user):
        text = " ".join(str(sentence) for sentence in texts).format(**values)
        ending = gettext("This was on {when}. If it was not you, secure your account at once:").format(
            when=when
        )
        mail = f"{text}\n\n{ending}\n\n{settings.BASE_URL}/accounts/"
        transaction.on_commit(partial(send_mail, user.email, str(subject), mail))


def deliver(message: EmailMessage) -> MailProblem | None:
    """Send the mail. Returns None if the server accepted it.

    Waits up to EMAIL_TIMEOUT, so call it outside transactions. The header keeps auto-responders from answering
    (RFC 3834).
    """
    message.extra_headers["Auto-Submitted"] = "auto-generated"
    try:
        message.send()
    except OSError as error:
        log.exception("A mail could not be sent.")
        return _problem(error)
    return None


def _problem(error: OSError) -> MailProblem:
    code = 0
    if isinstance(error, SMTPRecipientsRefused):
        [(code, _)] = error.recipients.values()
        if code in _NO_RECIPIENT:
            return MailProblem.ADDRESS
    elif isinstance(error, SMTPResponseException):
        code = error.smtp_code
    if code in _NO_ACCESS or isinstance(error, SMTPNotSupportedError):
        return MailProblem.NO_ACCESS
    if code < 400:
        return MailProblem.NO_RESPONSE
    return MailProblem.BUSY if code < 500 else MailProblem.REFUSED
