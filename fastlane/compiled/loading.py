"""Loads the compiled module if it was built from the present source and understands this version's tables."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings

from analytics.journal.records import encode_fields, frame
from fastlane.compiled.source import source_version
from fastlane.fast.prepared import HEAD_BYTES, unpack_head

if TYPE_CHECKING:
    from fastlane.compiled.plain_links import PlainLinks

_SAMPLE = bytes(range(256))


class Loaded(NamedTuple):
    """``plain_links`` is None if the event loop runs in Python; ``reason`` says why, for the log."""

    plain_links: type[PlainLinks] | None
    reason: str


@cache
def load() -> Loaded:
    """Call it before gunicorn forks, so that all workers share the module's memory."""
    if settings.COMPILED_LOOP == "off":
        return Loaded(None, "COMPILED_LOOP=off")
    try:
        module = import_module("fastlane.compiled.plain_links")
    except ModuleNotFoundError as error:
        return Loaded(None, f"the compiled loop is not installed, see `make accelerate` ({error})")
    except Exception as error:
        # A module of another version may fail in any way.
        return Loaded(None, f"the compiled loop cannot be loaded, run `make accelerate` ({error!r})")
    # A module of another version may lack everything else.
    if getattr(module, "version", "") != source_version() or not _has_present_formats(module):
        return Loaded(None, "the compiled loop was built from other sources, run `make accelerate`")
    return Loaded(module.PlainLinks, "")


def _has_present_formats(module: Any) -> bool:
    prepared_head = Struct(module.PREPARED_FORMAT)
    record_head = encode_fields(0, 0, 0, 0, b"", b"", b"")
    return (
        (HEAD_BYTES, len(frame(b"")), len(record_head)) == module.SIZES
        and prepared_head.size == HEAD_BYTES
        and prepared_head.unpack_from(_SAMPLE) == unpack_head(_SAMPLE)
        and bool(module.frame(_SAMPLE) == frame(_SAMPLE))
    )
