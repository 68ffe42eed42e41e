"""A process that has imported the libraries of the service, and becomes `manage.py` in a fork for each request.

A program: `python -m testing.service.forker DESCRIPTOR PADDING`, started by `forks`. It imports nothing that reads a
setting. gunicorn's defaults read the environment; `shortener_project.gunicorn_conf` replaces them. So a fork with
another environment acts like a new process.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import runpy
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

# Together with what these import, almost all libraries. Not prometheus_client, which reads the environment.
MODULES = (
    *("drf_spectacular.utils", "rest_framework.negotiation", "corsheaders.middleware", "allauth.decorators"),
    *("django.contrib.admindocs.views", "django.contrib.messages.middleware", "whitenoise.middleware"),
    *("django.db.backends.postgresql.base", "django.db.migrations.loader", "gunicorn.app.wsgiapp"),
    *("gunicorn.workers.gthread", "ua_parser_builtins.lazy", "crawleruseragents", "maxminddb", "qrcode"),
    *("PIL.PngImagePlugin", "dns.resolver", "fido2.server", "ada_url", "google_crc32c", "orjson", "sqlite3"),
)
# Fields of /proc/self/stat, counted from the one after the process name: where its arguments and its environment are.
_ARGUMENTS, _ENVIRONMENT = slice(45, 47), slice(47, 49)
_MAX_REQUEST = 65536


def main(channel: socket.socket) -> None:
    """Returns in each fork, and at the end of the channel."""
    for name in MODULES:
        with suppress(ImportError):  # an optional one
            import_module(name)
    gc.freeze()
    while True:
        # The descriptors are its standard input, output and error.
        request, descriptors, _, _ = socket.recv_fds(channel, _MAX_REQUEST, 3)
        if not request:
            sys.exit()
        reader, writer = os.pipe()
        if not (between := os.fork()):
            # The process between ends at once. The kernel then makes the reaper of orphans the parent of its fork.
            if os.fork():
                os._exit(0)
            _become(json.loads(request), descriptors)
            os.write(writer, str(os.getpid()).encode())
            for descriptor in (reader, writer, channel.detach()):
                os.close(descriptor)
            return
        for descriptor in (writer, *descriptors):
            os.close(descriptor)
        os.waitpid(between, 0)
        # Nothing, if there is no fork or it has failed.
        channel.send(os.read(reader, 32) or b"0")
        os.close(reader)


def _become(request: dict[str, Any], descriptors: Sequence[int]) -> None:
    os.setsid()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    environment = request["environment"]
    # Without a locale, Python chooses one at its start, for its children, too.
    if locale := os.environ.get("LC_CTYPE"):
        environment["LC_CTYPE"] = locale
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["manage.py", *request["arguments"]]
    _show([sys.executable, *sys.argv], [f"{name}={value}" for name, value in environment.items()])


def _show(arguments: list[str], environment: list[str]) -> None:
    """Write them to the memory where other processes find the arguments and the environment of this one."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    for texts, place in ((arguments, _ARGUMENTS), (environment, _ENVIRONMENT)):
        start, end = map(int, fields[place])
        content = b"".join(os.fsencode(text) + b"\0" for text in texts)
        if len(content) >= end - start:
            raise ValueError("The forker needs more padding.")
        ctypes.memmove(start, content.ljust(end - start, b"\0"), end - start)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_path("manage.py", run_name="__main__")
