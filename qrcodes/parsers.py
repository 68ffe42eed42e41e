from __future__ import annotations

from common.strict_json import MAX_BODY_BYTES, StrictJSONParser
from qrcodes.logos import MAX_BYTES


class LogoParser(StrictJSONParser):
    """Takes a body with a logo in it, which base64 makes a third longer."""

    max_bytes = MAX_BODY_BYTES + -(-MAX_BYTES // 3) * 4
