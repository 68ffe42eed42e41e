"""Pages that say why a mail was not sent."""

from __future__ import annotations

from dataclasses import replace

from allauth.core.exceptions import ImmediateHttpResponse
from django.http import HttpRequest, HttpResponse

from accounts.mails import MailProblem, spend_mail
from common.errors import TooManyAttempts
from common.http.client_address import address_of_client, client_network
from pages.responses import refuse, refuse_attempts
from sign_in import refusals

_REFUSALS = {
    MailProblem.NO_RESPONSE: refusals.MAIL_FAILED,
    MailProblem.BUSY: refusals.MAIL_DELAYED,
    MailProblem.NO_ACCESS: refusals.MAIL_NO_ACCESS,
    MailProblem.ADDRESS: refusals.MAIL_ADDRESS,
    MailProblem.REFUSED: refusals.MAIL_REFUSED,
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
        limited = refusals.MAILS_LIMITED
        refusal = replace(limited, message=f"{limited.message} Try again in {wait}.")
        raise ImmediateHttpResponse(refuse_attempts(request, refusal, error)) from None
