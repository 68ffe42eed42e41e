from __future__ import annotations

from common.strict_json import StrictJSONParser


class BulkParser(StrictJSONParser):
    """A thousand links with long addresses; four thousand bytes for each."""

    max_bytes = 4 * 1024 * 1024


class ImportParser(StrictJSONParser):
    """A file of ten thousand links."""

    max_bytes = 8 * 1024 * 1024
