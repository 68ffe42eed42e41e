"""A process that stops the server if its parent is killed and cannot stop the server itself."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import EmbeddedPostgresError
from .server import EmbeddedPostgres

_IMPORT_ROOT = Path(__file__).parents[1]
_CLEAN_EXIT = b"The parent exited cleanly."
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
                [sys.executable, "-m", __spec__.name, str(var_dir), str(os.getpid())],
                cwd=_IMPORT_ROOT,
                stdin=guard_end,
                start_new_session=True,
            )
        try:
            yield parent_end.close
        finally:
            with suppress(BrokenPipeError):  # the guard was killed
                parent_end.write(_CLEAN_EXIT)
            parent_end.close()
            guard.wait()


def main(var_dir: Path, parent: int) -> None:
    # Only the parent keeps the other end of this pipe. The kernel closes it however the parent exits.
    if sys.stdin.buffer.read() == _CLEAN_EXIT:
        return
    # The kernel may close the pipe before it drops the parent's lease, so wait until the parent is gone.
    while os.getppid() == parent:
        time.sleep(0.01)
    server, deadline = EmbeddedPostgres(var_dir), time.monotonic() + _OTHERS_TIMEOUT_SECONDS
    try:
        while not server.stop_unless_used() and time.monotonic() < deadline:
            time.sleep(_RETRY_SECONDS)
    except EmbeddedPostgresError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
