"""Refusals of the pages of accounts, also of mails that could not be sent."""

from __future__ import annotations

from dataclasses import replace

from allauth.core.exceptions import ImmediateHttpResponse
from django.http import HttpRequest, HttpResponse

from accounts.mails import MailProblem, spend_mail
from common.errors import TooManyAttempts
from common.http.client_address import address_of_client, client_network
from pages.refusals import Refusal
from pages.responses import refuse, refuse_attempts

LOGIN_LIMITED = Refusal(
    429,
    "rate_limited",
    "Too many attempts",
    "Too many logins have failed. Wait a while before you try again.",
)
PAGES_LIMITED = Refusal(
    429, "rate_limited", "Too many requests", "Your network has requested too many pages. Wait a minute."
)
# The text of a response adds when to try again.
MAILS_LIMITED = Refusal(
    429,
    "rate_limited",
    "Too many mails",
    "Too many mails were requested from your network or for this address.",
)
MAIL_FAILED = Refusal(
    503,
    "unavailable",
    "The mail could not be sent",
    "The mail server does not respond. Try again in a minute.",
)
MAIL_DELAYED = Refusal(
    503,
    "unavailable",
    "The mail could not be sent",
    "The mail server cannot take the mail at the moment. Try again in 5 minutes.",
)
MAIL_NO_ACCESS = Refusal(
    503,
    "unavailable",
    "The mail could not be sent",
    "The mail server does not accept the login of this service. Tell its operator.",
)
MAIL_ADDRESS = Refusal(
    400,
    "bad_address",
    "The mail could not be sent",
    "The mail server does not deliver to this address. Check it for typing errors.",
)
MAIL_REFUSED = Refusal(
    503,
    "unavailable",
    "The mail could not be sent",
    "The mail server refused the mail. Tell the operator of this service, whose log has the reason.",
)
PROVIDER_FAILED = Refusal(
    503,
    "unavailable",
    "Single sign-on is not available",
    "The identity provider does not respond. Try again later.",
)


_REFUSALS = {
    MailProblem.NO_RESPONSE: MAIL_FAILED,
    MailProblem.BUSY: MAIL_DELAYED,
    MailProblem.NO_ACCESS: MAIL_NO_ACCESS,
    MailProblem.ADDRESS: MAIL_ADDRESS,
    MailProblem.REFUSED: MAIL_REFUSED,
}
# As the texts say. Only a change of the settings helps against the others.
_RETRY_AFTER = {MailProblem.NO_RESPONSE: "60", MailProblem.BUSY: "300"}


def refuse_mail(request: HttpRequest, problem: MailProblem) -> HttpResponse:
    response = refuse(request, _REFUSALS[problem])
    del response["Retry-After"]
    if problem in _RETRY_AFTER:
        response["Retry-After"] = _RETRY_AFTER[problem]
    return response


def spend_mail_of_request(request: HttpRequest, email: str) -> None:
    """Raises ImmediateHttpResponse if the network has caused, or the address received, too many mails."""
    try:
        spend_mail(cause=client_network(address_of_client(request)), email=email)
    except TooManyAttempts as error:
        minutes = -(-error.retry_after // 60)
        wait = "a minute" if minutes == 1 else f"{minutes} minutes"
        limited = MAILS_LIMITED
        refusal = replace(limited, message=f"{limited.message} Try again in {wait}.")
        raise ImmediateHttpResponse(refuse_attempts(request, refusal, error)) from None
