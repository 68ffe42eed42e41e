"""Digests of the gunicorn internals that the worker relies on. Review a release's changes before updating them."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from typing import Any

import gunicorn
from gunicorn.arbiter import Arbiter
from gunicorn.http.body import ChunkedReader
from gunicorn.http.message import Message, Request
from gunicorn.http.parser import Parser
from gunicorn.http.unreader import SocketUnreader, Unreader
from gunicorn.http.wsgi import Response, create
from gunicorn.sock import close_sockets
from gunicorn.workers import gthread
from gunicorn.workers.base import Worker
from gunicorn.workers.gthread import TConn, ThreadWorker

from testing.cases import for_each

DIGESTS: dict[str, tuple[Any, str]] = {
    "TConn.__init__": (TConn.__init__, "c8763d7c65974e1b"),
    "TConn.init": (TConn.init, "5ff3d4ba451cfdf3"),
    "ThreadWorker.__init__": (ThreadWorker.__init__, "5681b8b542ea91bf"),
    "ThreadWorker.init_process": (ThreadWorker.init_process, "e4fc63a1a68e4f48"),
    "ThreadWorker.run": (ThreadWorker.run, "f92c7394d85715a4"),
    "ThreadWorker.handle_exit": (ThreadWorker.handle_exit, "b4e7decd4f9203ac"),
    "ThreadWorker.set_accept_enabled": (ThreadWorker.set_accept_enabled, "140150ebfd3cae34"),
    "ThreadWorker.enqueue_req": (ThreadWorker.enqueue_req, "c9f428953d24acef"),
    "ThreadWorker.murder_keepalived": (ThreadWorker.murder_keepalived, "4459960c4ccc36d4"),
    "ThreadWorker.wait_for_and_dispatch_events": (
        ThreadWorker.wait_for_and_dispatch_events,
        "ea969b352482bd5c",
    ),
    "ThreadWorker._cap_keepalive": (ThreadWorker._cap_keepalive, "745c8ac37108c74d"),
    "ThreadWorker.finish_request": (ThreadWorker.finish_request, "616e7bb15a009ff7"),
    "ThreadWorker.handle": (ThreadWorker.handle, "ca85c9be3df75da4"),
    "ThreadWorker.handle_request": (ThreadWorker.handle_request, "6d0de5b919102efc"),
    "ThreadWorker._keepalive_after": (ThreadWorker._keepalive_after, "4ebdbbc8bf5aafa5"),
    "Worker.handle_error": (Worker.handle_error, "75426448389bbac9"),
    "Parser.finish_body": (Parser.finish_body, "54c5d0d28c2626ea"),
    "ChunkedReader.parse_chunked": (ChunkedReader.parse_chunked, "ce85cf226da0bbe5"),
    "ChunkedReader.parse_chunk_size": (ChunkedReader.parse_chunk_size, "997c6693156b4f8a"),
    "ChunkedReader.parse_trailers": (ChunkedReader.parse_trailers, "c2e578afedad3a17"),
    "wsgi.create": (create, "2c35d4a2dc629ede"),
    "Response.should_close": (Response.should_close, "3888d47a96e289b3"),
    "Response.sendfile": (Response.sendfile, "417ea65fb9a19f5b"),
    "Response.write": (Response.write, "a13659ff072c00e1"),
    "SocketUnreader.chunk": (SocketUnreader.chunk, "9f62532259f8468e"),
    "close_sockets": (close_sockets, "9d6698b0d629d5e2"),
    "Arbiter.stop": (Arbiter.stop, "7138b6afd9c46ae0"),
    "Message.parse_headers": (Message.parse_headers, "fe09a6b5e706bd64"),
    "Message.set_body_reader": (Message.set_body_reader, "e3ba33f5ac7ca542"),
    "Message.should_close": (Message.should_close, "37c454bfb3e36316"),
    "Request._parse_python": (Request._parse_python, "ed07ffec51784055"),
    "Request.read_line": (Request.read_line, "13bf2e83f72a5e0d"),
    "Request.parse_request_line": (Request.parse_request_line, "77187ebabb46addb"),
    "Response.default_headers": (Response.default_headers, "cb490cea5d6f5408"),
    "Unreader.unread": (Unreader.unread, "8e325744dfcaca7f"),
    "Arbiter.spawn_worker": (Arbiter.spawn_worker, "6abc0d90b0b9f80b"),
    "Arbiter.reload": (Arbiter.reload, "fec344d2f774ee32"),
    "Arbiter.manage_workers": (Arbiter.manage_workers, "518f2dd040ef6809"),
}


def test_the_gunicorn_release_is_the_pinned_one() -> None:
    assert gunicorn.__version__ == "27.0.1"
    assert gthread.STOP_KEEPALIVE_LINGER == 2.0


@for_each(("function", "digest"), DIGESTS.values(), ids=DIGESTS)
def test_the_gunicorn_internals_are_unchanged(function: Callable[..., Any], digest: str) -> None:
    assert hashlib.sha256(inspect.getsource(function).encode()).hexdigest()[:16] == digest
