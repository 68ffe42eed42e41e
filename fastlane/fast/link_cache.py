"""The prepared answers of one process."""

from __future__ import annotations

from collections.abc import Sequence

from fastlane.fast.prepared import HEAD_BYTES, is_current, is_unknown, prepared_answers, unpack_head
from fastlane.fast.previews import link_request
from fastlane.fast.request_head import Fields, NotSimple, read_head
from links.codes import is_inherited_code, is_route
from links.destinations.lookup import site_of
from redirects.unknown_code_limit import link_key

# Unknown codes, which a worker remembers for UNKNOWN_SECONDS, and their bytes.
_UNKNOWN_CODES, _UNKNOWN_BYTES = 8192, 2 * 1024 * 1024


class LinkCache:
    """Main thread only, except `preload`. ``own_hosts``: host names of the default domain.

    ``entries`` and ``size`` (bytes) limit the links.
    """

    def __init__(self, own_hosts: frozenset[str], entries: int, size: int) -> None:
        self._own_hosts = own_hosts
        self._prepared = prepared_answers(entries, size)
        # Apart from the links, which a flood of unknown codes would evict.
        self._unknown = prepared_answers(_UNKNOWN_CODES, _UNKNOWN_BYTES)

    def lookup_key(self, data: bytes, now: float) -> tuple[str, str] | None:
        """Return host and code of a simple request for a link without a valid cache entry, else None."""
        try:
            _, code, _, fields = read_link_head(data)
        except NotSimple:
            return None
        prepared = self._find(self._key(code, fields))
        if prepared is not None and is_current(prepared, now):
            return None
        text = code.decode("ascii")
        return (fields.host, text) if is_link_code(text) else None

    def store(self, host: str, code: str, prepared: bytes) -> None:
        """Cache the result of `fastlane.fast.lookup.lookup`."""
        key = link_key(site_of(host), code.encode("ascii"))
        # A former link stays where it is found first.
        is_new = is_unknown(prepared) and self._prepared.get(key) is None
        (self._unknown if is_new else self._prepared).put(key, prepared)

    def claimable(self, data: bytes) -> tuple[bytes, bytes] | None:
        """Return key and prepared answer of a simple request for a link whose clicks must be claimed first.

        The answer may be outdated.
        """
        try:
            _, code, _, fields = read_head(data)
        except NotSimple:
            return None
        key = self._key(code, fields)
        prepared = self._prepared.get(key)
        if prepared is None or len(prepared) <= HEAD_BYTES or unpack_head(prepared)[6] != 0:
            return None
        return key, prepared[HEAD_BYTES:]

    def preload(self, entries: Sequence[tuple[bytes, bytes]]) -> bool:
        """Add prepared answers of links by `link_key`, without evicting any. Safe in any thread.

        Return whether there is room for more.
        """
        return self._prepared.preload(entries)

    def _key(self, code: bytes, fields: Fields) -> bytes:
        return code if fields.host in self._own_hosts else link_key(fields.host, code)

    def _find(self, key: bytes) -> bytes | None:
        return self._prepared.get(key) or self._unknown.get(key)


def read_link_head(data: bytes) -> tuple[str, bytes, str, Fields]:
    """As `read_head`, also for the preview of a link. Raises NotSimple."""
    try:
        return read_head(data)
    except NotSimple:
        return read_head(link_request(data))


def is_link_code(code: str) -> bool:
    """Whether Django's router takes the path for that of a link."""
    return is_inherited_code(code) and not is_route(code)
