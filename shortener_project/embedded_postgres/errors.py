"""The one exception that leaves this package."""

from collections.abc import Iterator
from contextlib import contextmanager


class EmbeddedPostgresError(Exception):
    """The message is one line, addressed to the operator, saying what is wrong and what to do."""


@contextmanager
def operator_errors() -> Iterator[None]:
    """Turn an error of the operating system into the one line that an operator can act upon."""
    try:
        yield
    except OSError as error:
        names = [name for name in (error.filename, error.filename2) if name]
        subject = " -> ".join(str(name) for name in names) or "the embedded PostgreSQL"
        advice = " Run as its owner, or choose another VAR_DIR." if isinstance(error, PermissionError) else ""
        raise EmbeddedPostgresError(f"{subject}: {error.strerror or error}.{advice}") from error
