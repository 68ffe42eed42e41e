from __future__ import annotations

from common.rest.strict_json import StrictJSONParser


class BulkParser(StrictJSONParser):
    """Accepts a thousand links of four thousand bytes each."""

    max_bytes = 4 * 1024 * 1024


class ImportParser(StrictJSONParser):
    """Accepts a file of ten thousand links."""

    max_bytes = 8 * 1024 * 1024
