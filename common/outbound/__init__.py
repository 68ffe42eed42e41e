"""Requests to addresses that users enter. `send` is the only way out of the service to them.

`send` never reaches an address of the operator's own networks: `addresses` decides which ones it may reach, and
`connections` connects to an address that was checked, never to a name.
"""

from common.outbound.errors import OutboundError
from common.outbound.requests import Answer, send

__all__ = ["Answer", "OutboundError", "send"]
