"""Refusals of the pages of accounts."""

from __future__ import annotations

from pages.refusals import Refusal

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
