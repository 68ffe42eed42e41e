"""Settings of services for tests and benchmarks. Tests of limits and timeouts set their own."""

# Tests and benchmarks send more requests than any client should.
LIMITS_OFF = dict.fromkeys(
    (
        *("RATE_LIMIT_FREE", "RATE_LIMIT_PRO", "RATE_LIMIT_ENTERPRISE", "RATE_LIMIT_ANONYMOUS"),
        *("WORKSPACES_PER_DAY", "STORAGE_MB_FREE", "STORAGE_MB_PRO"),
        *("RATE_LIMIT_PASSWORDS", "UNKNOWN_CODE_LIMIT", "CONNECTIONS_PER_ADDRESS"),
    ),
    "0",
)

# By default, a request gets 503 if a statement takes two seconds or if no thread is free for ten, and gunicorn
# replaces a worker that does not run for thirty. A machine that is busy with other tests can stop a process for
# longer.
LONG_TIMEOUTS = {
    "STATEMENT_TIMEOUT_MS": "60000",
    "API_QUEUE_SECONDS": "240",
    "GUNICORN_CMD_ARGS": "--timeout 240",
}
