from __future__ import annotations

from common.rest.strict_json import MAX_BODY_BYTES, StrictJSONParser
from qrcodes.drawing.logos import MAX_BYTES


class LogoParser(StrictJSONParser):
    """Accepts a body with a logo, which base64 makes a third longer."""

    max_bytes = MAX_BODY_BYTES + -(-MAX_BYTES // 3) * 4
