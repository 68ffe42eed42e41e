"""Words in the values of conditions, for their validation and for the redirects that evaluate them."""

from __future__ import annotations

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# The value of a referrerHost condition that matches visits without a referrer.
DIRECT = "direct"
