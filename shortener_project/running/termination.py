"""SIGTERM as an exception, so that a command releases its resources on the way out."""

from __future__ import annotations

import atexit
import signal
import sys
import threading
from types import FrameType, TracebackType

# Seconds until the next attempt if the exception could not propagate.
_RETRY_SECONDS = 0.01


def end_on_sigterm() -> None:
    """Make SIGTERM raise SystemExit in the main thread. Call it in the main thread.

    In finalizers and weak reference callbacks (for example during imports), the interpreter cannot propagate an
    exception: it reports the exception and continues. A SIGALRM then raises it again shortly afterwards. While a class
    is created, Python 3.11 turns it into a RuntimeError. Both apply to the KeyboardInterrupt of a SIGINT, too.
    """
    sys.unraisablehook = _raise_again
    sys.excepthook = _unwrap
    # Runs last, before the interpreter removes its signal handlers and SIGALRM would kill the process.
    atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _end)


def reset_hooks() -> None:
    """In a fork without these signal handlers: restore Python's hooks."""
    sys.unraisablehook = sys.__unraisablehook__
    sys.excepthook = sys.__excepthook__


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + signal.SIGTERM)


def _unwrap(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if isinstance(error.__cause__, SystemExit):
        raise error.__cause__
    if isinstance(error.__cause__, KeyboardInterrupt):
        sys.exit(128 + signal.SIGINT)
    sys.__excepthook__(kind, error, trace)


def _raise_again(ignored: sys.UnraisableHookArgs) -> None:
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and ignored.exc_type in (SystemExit, KeyboardInterrupt):
        # `serve` may have replaced the handler.
        signal.signal(signal.SIGALRM, _end if ignored.exc_type is SystemExit else signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)
    else:
        sys.__unraisablehook__(ignored)
