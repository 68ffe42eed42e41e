"""Waits until the parent dies. It is a program of its own, because the launcher would take 8 MB more.

guard_wait.py VAR_DIR PARENT, without the environment's modules. Uses no other module of this package.
"""

import os
import sys
import time

CLEAN_EXIT = b"The parent exited cleanly."


def main(var_dir: str, parent: int) -> None:
    # Only the parent keeps the other end of this pipe. The kernel closes it however the parent exits.
    if sys.stdin.buffer.read() == CLEAN_EXIT:
        return
    # The kernel may close the pipe before it drops the parent's lease, so wait until the parent is gone.
    while os.getppid() == parent:
        time.sleep(0.01)
    os.execv(sys.executable, [sys.executable, "-m", "local_postgres.guard", var_dir])  # noqa: S606 # no shell is needed


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
