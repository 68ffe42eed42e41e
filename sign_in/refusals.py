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
MAIL_FAILED = Refusal(
    503, "unavailable", "The mail could not be sent", "The mail server does not respond. Try again later."
)
PROVIDER_FAILED = Refusal(
    503,
    "unavailable",
    "Single sign-on is not available",
    "The identity provider does not respond. Try again later.",
)
