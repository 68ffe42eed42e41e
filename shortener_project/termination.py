"""SIGTERM as an exception, so that what a command holds is given back on the way out."""

from __future__ import annotations

import atexit
import signal
import sys
from types import FrameType

# Seconds after which a process that could not be ended at one point of its code is ended at another.
_ANOTHER_MOMENT = 0.01


def end_on_sigterm() -> None:
    """From now on SIGTERM raises SystemExit in the main thread, which calls this.

    Where the interpreter cannot let an exception out (a finalizer, a callback of a weak reference, as imports have
    them), it reports it and goes on; there it is raised anew a moment later. This takes SIGALRM.
    """
    sys.unraisablehook = _raise_again
    # The last thing that is done before the interpreter gives its handlers up, and SIGALRM would kill.
    atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + signal.SIGTERM)


def _raise_again(ignored: sys.UnraisableHookArgs) -> None:
    if ignored.exc_type is SystemExit:
        signal.setitimer(signal.ITIMER_REAL, _ANOTHER_MOMENT)
    else:
        sys.__unraisablehook__(ignored)
