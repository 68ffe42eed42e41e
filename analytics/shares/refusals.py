"""What the page of a shared report answers instead of the report. None of them says what it showed."""

from pages.refusals import Refusal

NOT_FOUND = Refusal(
    404, "not_found", "Report not found", "There is no report at this address. Check it for typing errors."
)
ENDED = Refusal(
    410,
    "share_ended",
    "No longer shared",
    "This report is no longer shared. Ask its sender for a new address.",
)
UNREADABLE = Refusal(
    409,
    "unreadable",
    "This report cannot be shown now",
    "Its sender has to change what it covers, such as its period.",
)
UNAVAILABLE = Refusal(
    503,
    "unavailable",
    "Temporarily unavailable",
    "This report cannot be read right now. Try again in a moment.",
)
PASSWORD = Refusal(401, "password", "Password required", "This report is protected by a password.")
WRONG_PASSWORD = Refusal(
    401, "password", "Wrong password", "That is not the password of this report. Try again."
)
LIMITED = Refusal(
    429, "rate_limited", "Too many requests", "Your network has requested too many reports. Wait a minute."
)
