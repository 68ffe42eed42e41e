"""The fast lane: serves cached links, their previews, and unknown codes from memory, with prepared bytes.

It shares the checks and the routing of the Django view. The view handles everything else: passwords, click limits,
cards, other refusals than those of a visitor's country, device or network, and requests that are not simple.

``FastLane.answer`` trades clarity for speed: one long method instead of calls, and positional arguments where it does
call. bench/results.csv, "Redirects", has the resulting rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from django.conf import settings

from analytics.journal.capture import KINDS
from analytics.journal.records import SCANNED, encode_fields
from analytics.visitors.visitor import Kind, is_scan
from common.host import cache_versions
from common.host.limited_warnings import report_if_untrusted_proxy
from common.host.metrics import count_lookups
from common.http.client_address import Network, client_address, is_trusted
from common.http.languages import page_language
from fastlane.fast.answers import (
    Answer,
    Request,
    answer_refusal,
    answer_unknown_code,
    first_lines,
    page_answer,
    preview_page,
    refusal_page,
    refuse_guessing,
)
from fastlane.fast.counts import NOT_FOUND, PREVIEW
from fastlane.fast.prepared import (
    HEAD_BYTES,
    LONGEST_UNKNOWN_SECONDS,
    is_current,
    is_unknown,
    prepared_answers,
    unpack_head,
)
from fastlane.fast.request_head import Fields, NotSimple, link_request, read_head, read_link_head
from fastlane.fast.visitor_rules import VisitorRulesTable
from links.codes import is_inherited_code, is_route
from links.destinations.lookup import site_of
from links.guess_counts import guesses
from pages.refusals import Refusal
from redirects.request_guard import link_key, refusal_for
from redirects.visit import Visit

# Unknown codes, which a worker remembers for UNKNOWN_SECONDS, and their bytes.
_UNKNOWN_CODES, _UNKNOWN_BYTES = 8192, 2 * 1024 * 1024
# A worker remembers at most so many follows in so many seconds. Remembering one takes a fifth of the time of an
# answer: 6,400 a second cost a saturated worker one per cent of its time.
_REMEMBERED, _REMEMBERED_SECONDS = 64, 0.01


class FastLane:
    """The cached links of a process, and their answers. Main thread only, except `preload`.

    ``own_hosts``: host names of the default domain. The settings limit the cached links.
    """

    def __init__(self, own_hosts: frozenset[str], trusted_proxies: Sequence[Network]) -> None:
        entries, size = settings.DESTINATIONS_KEPT, settings.DESTINATIONS_MB * 1024 * 1024
        self._own_hosts = own_hosts
        self._prepared = prepared_answers(entries, size)
        # Apart from the links, which a flood of unknown codes would evict.
        self._unknown = prepared_answers(_UNKNOWN_CODES, _UNKNOWN_BYTES)
        self._trusted = tuple(trusted_proxies)
        self._visitor_rules = VisitorRulesTable(entries, size // 4)
        self._counters = cache_versions.counters()
        self._keep_alive_starts: dict[int, bytes] = {}
        self._close_starts: dict[int, bytes] = {}
        self._refusing = guesses().refusing
        self._followed = guesses().followed
        self._remembered = _REMEMBERED if settings.UNKNOWN_CODE_LIMIT else 0
        self._remember_budget, self._remember_since = 0, 0.0
        self._now, self._microseconds, self._second_end = 0.0, 0, 0.0

    def answer(  # noqa: PLR0912 # the hot path: calls would slow it down
        self, data: bytes, peer: str, now: float, closes: bool = False, claimable: bytes | None = None
    ) -> Answer | None:
        """Return the answer to a request from ``peer`` (an address). None, without side effects: it cannot serve it.

        ``now`` in seconds since 1970. ``closes``: the connection closes after this answer, whatever the request says.
        ``claimable``: by the method of that name. The visitor follows the link only if a click is claimed.
        """
        try:
            method, code, query, fields = read_head(data)
        except NotSimple:
            return self._answer_preview(data, peer, now, closes)
        key = code if fields.host in self._own_hosts else link_key(fields.host, code)
        if self._refusing[0]:
            refused = self._refuse_guessing(method, code, key, peer, fields, now, closes)
            if refused is not None:
                return refused
        prepared = (
            claimable or self._prepared.young.get(key) or self._prepared.recall(key) or self._unknown.get(key)
        )
        if prepared is None:
            return None
        code_number, host_number, link_id, until, code_counter, host_counter, status, flags, rules = (
            unpack_head(prepared)
        )
        if now != self._now:
            self._update_clock(now, peer, fields)
        counters = self._counters
        if counters[code_counter] != code_number or counters[host_counter] != host_number:
            return None
        if until <= now or status == 0:
            return None
        kind = fields.kind if method == "GET" else "head"
        address = peer
        if self._trusted or ":" in peer:
            address = cached_client_address(peer, fields.forwarded_for, self._trusted)
        flags |= fields.flags | SCANNED if query and is_scan(query) else fields.flags
        if rules:
            if status == NOT_FOUND:
                if until > now + LONGEST_UNKNOWN_SECONDS:
                    return None
                request = self._request(kind, fields, peer, address, flags, closes)
                return answer_unknown_code(prepared[-rules:], code, request)
            answer = self._apply_rules(prepared, rules, address, fields, query, kind, now, flags)
            if answer is None:
                return None
            if isinstance(answer, Refusal):
                return answer_refusal(
                    link_id, answer, self._request(kind, fields, peer, address, flags, closes)
                )
            headers, branch = answer
            flags |= branch
        else:
            headers = prepared[HEAD_BYTES:]
        if self._remember_budget and claimable is None:
            self._remember_budget -= 1
            self._followed.remember(address, key)
        closes = closes or fields.closes
        start = (self._close_starts if closes else self._keep_alive_starts)[status]
        payload = encode_fields(
            self._microseconds,
            link_id,
            KINDS[kind],
            flags,
            address.encode(),
            fields.agent,
            fields.referrer,
        )
        return status, start + headers, closes, payload

    def _answer_preview(self, data: bytes, peer: str, now: float, closes: bool) -> Answer | None:
        """Answer the preview of a link that the lane serves, or of an unknown code. None: not such a request."""
        try:
            method, code, _, fields = read_head(link_request(data))
        except NotSimple:
            return None
        key = self._key(code, fields)
        if self._refusing[0]:
            refused = self._refuse_guessing(method, code, key, peer, fields, now, closes)
            if refused is not None:
                return PREVIEW, *refused[1:]
        if now != self._now:
            self._update_clock(now, peer, fields)
        prepared = self._find(key)
        if prepared is None or not is_current(prepared, now):
            return None
        *_, status, _, rules = unpack_head(prepared)
        if status == 0:
            return None
        kind = fields.kind if method == "GET" else "head"
        address = cached_client_address(peer, fields.forwarded_for, self._trusted)
        request = self._request(kind, fields, peer, address, fields.flags, closes)
        if status == NOT_FOUND:
            return answer_unknown_code(prepared[-rules:], code, request)
        answer: tuple[bytes, int] | Refusal | None = prepared[HEAD_BYTES:], 0
        if rules:
            answer = self._apply_rules(prepared, rules, address, fields, "", kind, now, fields.flags)
        if answer is None:
            return None
        count_lookups(hits=1)
        if isinstance(answer, Refusal):
            return page_answer(refusal_page(answer, request), PREVIEW, request)
        language = page_language(fields.accept_language)
        page = preview_page(
            code, answer[0], in_json=fields.accepts_json, language=language, hsts=request.hsts
        )
        return page_answer(page, PREVIEW, request)

    def _apply_rules(  # noqa: PLR0917 # called from the hot path
        self,
        prepared: bytes,
        rules: int,
        address: str,
        fields: Fields,
        query: str,
        kind: Kind,
        now: float,
        flags: int,
    ) -> tuple[bytes, int] | Refusal | None:
        """Return what `VisitorRules.answer` does. ``rules``: the length of the rules at the end of ``prepared``."""
        visit = Visit(
            address,
            fields.user_agent,
            fields.referrer.decode(),
            fields.accept_language,
            query,
            bool(flags & SCANNED),
        )
        return self._visitor_rules.get(prepared, rules).answer(visit, kind, now)

    def _refuse_guessing(  # noqa: PLR0917 # called from the hot path
        self, method: str, code: bytes, key: bytes, peer: str, fields: Fields, now: float, closes: bool
    ) -> Answer | None:
        """Return the refusal of a network that has requested too many unknown codes. None: do not refuse."""
        if not is_link_code(code.decode("ascii")):
            return None
        address = peer
        if self._trusted or ":" in peer:
            address = cached_client_address(peer, fields.forwarded_for, self._trusted)
        refusal = refusal_for(address, key)
        if refusal is None:
            return None
        if now != self._now:
            self._update_clock(now, peer, fields)
        kind = fields.kind if method == "GET" else "head"
        return refuse_guessing(refusal, self._request(kind, fields, peer, address, 0, closes))

    def _request(  # noqa: PLR0917 # called from the hot path
        self, kind: Kind, fields: Fields, peer: str, address: str, flags: int, closes: bool
    ) -> Request:
        closes = closes or fields.closes
        is_secure = fields.is_secure and is_trusted(peer, self._trusted)
        return Request(
            fields,
            address,
            kind,
            flags,
            self._close_starts if closes else self._keep_alive_starts,
            closes,
            settings.SECURE_HSTS_SECONDS if is_secure else 0,
            self._microseconds,
        )

    def _update_clock(self, now: float, peer: str, fields: Fields) -> None:
        """Update the clock, once per batch of requests. ``peer`` and ``fields`` are those of its first request."""
        self._now, self._microseconds = now, int(now * 1_000_000)
        if not self._remember_since <= now < self._remember_since + _REMEMBERED_SECONDS:
            self._remember_budget, self._remember_since = self._remembered, now
        # The clock may be set back.
        if not self._second_end - 1.0 <= now < self._second_end:
            self._start_second(now, peer, fields)

    def _start_second(self, now: float, peer: str, fields: Fields) -> None:
        """Prepare the first lines of answers, expire the cache if invalidations stop arriving, and look for a proxy
        that is not trusted.
        """
        cache_versions.expire_caches_after_silence()
        # A sample is enough: behind a proxy, every request has the header.
        if fields.forwarded_for:
            report_if_untrusted_proxy(peer, self._trusted)
        self._second_end = int(now) + 1.0
        self._keep_alive_starts = first_lines(now, "keep-alive")
        self._close_starts = first_lines(now, "close")

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
        """Cache the result of `fastlane.handoff.link_lookups.lookup`."""
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


def is_link_code(code: str) -> bool:
    """Whether Django's router takes the path for that of a link."""
    return is_inherited_code(code) and not is_route(code)


cached_client_address = lru_cache(maxsize=8192)(client_address)
