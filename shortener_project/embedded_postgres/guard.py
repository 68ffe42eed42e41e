"""Stops the server when the process that needed it was killed outright and could not do so itself."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import EmbeddedPostgresError
from .server import EmbeddedPostgres

_IMPORT_ROOT = Path(__file__).parents[2]
_NOTHING_TO_DO = b"The parent ends in good order."
# Seconds. The children of the parent are being ended with it; one may be killed before it has given back its lease.
_OTHERS_END_WITHIN = 30
_TRY_EVERY = 0.2


@contextmanager
def guarded(var_dir: Path) -> Iterator[None]:
    """Inside, the death of this process, however it comes, stops the server unless others go on using it.

    Those others would do the same, but one of them may be starting again, or be killed, at that very moment.
    """
    guard = subprocess.Popen(
        [sys.executable, "-m", __spec__.name, str(var_dir), str(os.getpid())],
        cwd=_IMPORT_ROOT,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield
    finally:
        guard.communicate(_NOTHING_TO_DO)


def main(var_dir: Path, parent: int) -> None:
    # The other end of this pipe is the parent's alone, so the kernel closes it whatever ends the parent.
    if sys.stdin.buffer.read() == _NOTHING_TO_DO:
        return
    # Of what the dying parent held the pipe may be the first to be closed; its lease must be gone, too.
    while os.getppid() == parent:
        time.sleep(0.01)
    server, deadline = EmbeddedPostgres(var_dir), time.monotonic() + _OTHERS_END_WITHIN
    try:
        while not server.stop_unless_used() and time.monotonic() < deadline:
            time.sleep(_TRY_EVERY)
    except EmbeddedPostgresError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
