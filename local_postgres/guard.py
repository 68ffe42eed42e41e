"""A process that stops the server if its parent is killed and cannot stop the server itself."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import guard_wait
from .errors import EmbeddedPostgresError
from .server import EmbeddedPostgres

_IMPORT_ROOT = Path(__file__).parents[1]
# The parent's children end with it, and share its lease until the last of them has ended.
_OTHERS_TIMEOUT_SECONDS = 60
_RETRY_SECONDS = 0.2


@contextmanager
def guarded(var_dir: Path) -> Iterator[Callable[[], None]]:
    """If this process dies inside the block, for any reason, stop the server unless other processes use it.

    Other processes also stop the server when they exit, but one may be restarting or be killed at the same moment.
    Each fork of this process must call the function that the block receives, so that the guard learns of the death at
    once. A fork shares the lease of this process, so the guard then waits up to 60 seconds for the end of all forks.
    """
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb", buffering=0) as parent_end:
        with os.fdopen(reader, "rb", buffering=0) as guard_end:
            guard = subprocess.Popen(
                # In isolated mode without site-packages, it takes less memory. It needs only the standard library.
                [sys.executable, "-I", "-S", guard_wait.__file__, str(var_dir), str(os.getpid())],
                cwd=_IMPORT_ROOT,
                stdin=guard_end,
                start_new_session=True,
            )
        try:
            yield parent_end.close
        finally:
            with suppress(BrokenPipeError):  # the guard was killed
                parent_end.write(guard_wait.CLEAN_EXIT)
            parent_end.close()
            guard.wait()


def main(var_dir: Path) -> None:
    """Runs in the guard when its parent has died."""
    server, deadline = EmbeddedPostgres(var_dir), time.monotonic() + _OTHERS_TIMEOUT_SECONDS
    try:
        while not server.stop_unless_used() and time.monotonic() < deadline:
            time.sleep(_RETRY_SECONDS)
    except EmbeddedPostgresError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
