"""The only exception that this package raises to its callers."""

from collections.abc import Iterator
from contextlib import contextmanager


class EmbeddedPostgresError(Exception):
    """The message is one line that tells the operator what is wrong and what to do."""


@contextmanager
def operator_errors() -> Iterator[None]:
    """Convert an OSError into a one-line message that the operator can act on."""
    try:
        yield
    except OSError as error:
        names = [name for name in (error.filename, error.filename2) if name]
        subject = " -> ".join(str(name) for name in names) or "the embedded PostgreSQL"
        advice = " Run as its owner, or choose another VAR_DIR." if isinstance(error, PermissionError) else ""
        raise EmbeddedPostgresError(f"{subject}: {error.strerror or error}.{advice}") from error
