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


@contextmanager
def guarded(var_dir: Path) -> Iterator[None]:
    """Inside, the death of this process, however it comes, stops the server unless others use it.

    Those others would do the same, but one of them may be starting again at that very moment.
    """
    guard = subprocess.Popen(
        [sys.executable, "-m", __spec__.name, str(var_dir)],
        cwd=_IMPORT_ROOT,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield
    finally:
        guard.communicate(_NOTHING_TO_DO)


def main(var_dir: Path) -> None:
    parent = os.getppid()
    # The other end of this pipe is the parent's alone, so the kernel closes it whatever ends the parent.
    if sys.stdin.buffer.read() == _NOTHING_TO_DO:
        return
    # Of what the dying parent held the pipe may be the first to be closed; its lease must be gone, too.
    while os.getppid() == parent:
        time.sleep(0.01)
    try:
        EmbeddedPostgres(var_dir).stop_unless_used()
    except EmbeddedPostgresError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
