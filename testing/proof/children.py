"""Child processes of the proof. Each target function calls `Site.enter` first."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

TIMEOUT_SECONDS = 240

# With a fork server, children inherit neither threads nor connections of the parent.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["testing.proof.preload"])


def start(target: Callable[..., object], *arguments: Any, **options: Any) -> BaseProcess:
    process = _context.Process(target=target, args=arguments, kwargs=options, daemon=True)
    process.start()
    return process


def end_of(process: BaseProcess) -> int:
    """Wait for the process and return its exit code, negative for a signal."""
    process.join(TIMEOUT_SECONDS)
    if process.exitcode is None:
        process.kill()
        raise TimeoutError(f"A child process did not exit within {TIMEOUT_SECONDS} s.")
    return process.exitcode


def result_of(
    target: Callable[..., Any], *arguments: Any, within: float = TIMEOUT_SECONDS, **options: Any
) -> Any:
    """Return what ``target`` returns in a child process. Raises TimeoutError after ``within`` seconds."""
    receiver, sender = _context.Pipe(duplex=False)
    process = start(_send, sender, target, arguments, options)
    sender.close()
    try:
        if not receiver.poll(within):
            raise TimeoutError(f"A child process returned no result within {within} s.")
        return receiver.recv()
    finally:
        receiver.close()
        if end_of(process) != 0:
            raise RuntimeError("A child process failed, see its traceback.")


def _send(sender: Connection, target: Callable[..., Any], arguments: Any, options: Any) -> None:
    sender.send(target(*arguments, **options))
    sender.close()
