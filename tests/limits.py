"""Tests and benchmarks ask more often than anybody should; those of the limits set their own."""

LIMITS_OFF = dict.fromkeys(
    (
        *("RATE_LIMIT_FREE", "RATE_LIMIT_PRO", "RATE_LIMIT_ENTERPRISE", "RATE_LIMIT_ANONYMOUS"),
        "UNKNOWN_CODE_LIMIT",
    ),
    "0",
)
