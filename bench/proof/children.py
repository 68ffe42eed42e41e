"""Processes of the proof's own. What they run starts by entering the site that it is given."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

SECONDS = 60

# Neither threads nor connections of the parent reach its children.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["bench.proof.preload"])


def start(target: Callable[..., object], *arguments: Any, **options: Any) -> BaseProcess:
    process = _context.Process(target=target, args=arguments, kwargs=options, daemon=True)
    process.start()
    return process


def end_of(process: BaseProcess) -> int:
    """Its exit code, negative for a signal."""
    process.join(SECONDS)
    if process.exitcode is None:
        process.kill()
        raise TimeoutError(f"A child did not end in {SECONDS} s.")
    return process.exitcode


def result_of(target: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    receiver, sender = _context.Pipe(duplex=False)
    process = start(_send, sender, target, arguments, options)
    sender.close()
    try:
        if not receiver.poll(SECONDS):
            raise TimeoutError(f"A child did not answer in {SECONDS} s.")
        return receiver.recv()
    finally:
        receiver.close()
        if end_of(process) != 0:
            raise RuntimeError("A child has failed, see its traceback.")


def _send(sender: Connection, target: Callable[..., Any], arguments: Any, options: Any) -> None:
    sender.send(target(*arguments, **options))
    sender.close()
