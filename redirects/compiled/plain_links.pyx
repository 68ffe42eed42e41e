# cython: language_level=3, boundscheck=True, wraparound=False
"""The compiled part of the event loop: answers known plain links without Python code for each request.

It does what `EventLoop.run_once` and `FastLane.answer` do, with their tables. It parses no header fields: it looks up
blocks of fields that `read_head` has parsed. It passes everything else to the Python code, in the order of arrival.

Every build checks the index of each single byte of the input. The calls with pointers (`memchr`, `memcmp`, `recv`) stay
within the input by the comparisons before them. Only `Buffer` and `_end_frame` write to memory that can move; both compare
with its size. Only `wait` releases the interpreter lock. The sockets never block; the journal's write, which is in Python, can
wait for the disk.
"""

import time

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.exc cimport PyErr_CheckSignals
from libc.errno cimport EAGAIN, EINTR, errno
from libc.math cimport ceil
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy

from analytics.journal.capture import KINDS
from analytics.journal.writer import journal
from links.models import MAX_CODE
from redirects.fast.lane import cached_client_address
from redirects.fast.request_head import NotSimple, read_head
from redirects.unknown_code_limit import link_key

include "layouts.pxi"
include "sockets.pxi"
include "crc32c.pxi"
include "buffer.pxi"
include "input.pxi"
include "header_blocks.pxi"
include "records.pxi"

version = SOURCE_VERSION.decode()

cdef Py_ssize_t _MAX_CODE = MAX_CODE
cdef uint8_t _HEAD_KIND = KINDS["head"]


cdef struct Exchange:
    # The range of the input, and the ends of its answered heads: the first one and the last one.
    int descriptor
    Py_ssize_t start, end, first_end, answered_end
    # The range of the output.
    Py_ssize_t out_start, out_end
    int answers
    bint closes


@cython.final
cdef class PlainLinks:
    """Calls the functions of the constructor after the batch, for the connections that it has not finished."""

    cdef object lane, connections, followed, client_of
    cdef object on_special, on_data, on_answered, on_unrecorded, on_dropped
    cdef dict by_descriptor, young, keep_alive_starts, close_starts
    cdef uint64_t[::1] slots
    cdef double[::1] refusing
    cdef tuple trusted
    cdef int epoll
    cdef bint is_clock_current, is_undisturbed
    cdef readonly bint is_watched_ready
    cdef int64_t microseconds
    cdef Input input
    cdef HeaderBlocks blocks
    cdef epoll_event[EVENTS] events
    cdef Exchange[EVENTS] exchanges
    cdef Buffer records, output
    cdef list statuses

    def __init__(self, lane, connections, *, on_special, on_data, on_answered, on_unrecorded, on_dropped):
        self.lane, self.connections = lane, connections
        self.on_special, self.on_data, self.on_answered = on_special, on_data, on_answered
        self.on_unrecorded, self.on_dropped = on_unrecorded, on_dropped
        self.by_descriptor, self.epoll = connections.by_descriptor, connections.epoll.fileno()
        self.slots, self.refusing, self.followed = lane._slots, lane._refusing, lane._followed
        self.trusted = lane._trusted
        self.client_of = cached_client_address
        self.input, self.blocks = Input(), HeaderBlocks(lane._own_hosts)
        self.records, self.output = Buffer(), Buffer()

    def run(self, double timeout):
        """Wait for events for at most ``timeout`` seconds and process them. Return the batches of answers, as pairs of
        their statuses and the seconds that they took.

        If ``timeout`` is not 0, repeat that for about `REPEAT_SECONDS` and up to `REPEAT_BATCHES`, while there is nothing
        to do for Python code.
        """
        cdef list batches = []
        cdef int number = self.wait(timeout)
        cdef double now = time.monotonic(), end = now + REPEAT_SECONDS
        while True:
            statuses = self.run_once(number, now, time.time())
            if statuses:
                batches.append((statuses, <double>time.monotonic() - now))
            if timeout <= 0.0 or not self.is_undisturbed or now >= end or len(batches) >= REPEAT_BATCHES:
                return batches
            # A signal that arrived before this call does not end the waiting, so it is short.
            number = self.wait(min(timeout, REPEAT_SECONDS))
            if number == 0:
                return batches
            now = time.monotonic()

    cdef int wait(self, double timeout) except -1:
        """Return the number of events for `run_once`.

        A signal ends the waiting. Its handler runs before this method returns.
        """
        cdef int milliseconds = <int>ceil(timeout * 1000), number
        with nogil:
            number = epoll_wait(self.epoll, self.events, EVENTS, milliseconds)
        if number < 0:
            if errno != EINTR:
                raise OSError(errno, "epoll_wait")
            PyErr_CheckSignals()
            return 0
        return number

    cdef list run_once(self, int number, double now, double clock):
        """Process the events of `wait`. Return the statuses of the answers.

        ``now`` in monotonic seconds, ``clock`` in seconds since 1970.
        """
        self.is_watched_ready = self.is_undisturbed = False
        if not 0 < number <= EVENTS:
            return []
        cdef list later = [], answering = []
        cdef Py_ssize_t start = 0, size
        cdef int index, descriptor
        cdef uint32_t event
        cdef Exchange *exchange
        cdef bint ending = self.connections.ending
        self.statuses, self.is_clock_current, self.young = [], False, None
        self.records.clear()
        self.output.clear()
        for index in range(number):
            descriptor, event = self.events[index].data.fd, self.events[index].events
            connection = self.by_descriptor.get(descriptor)
            if connection is None:
                self.is_watched_ready = True
                continue
            if connection.is_special:
                later.append((self.on_special, (connection, event)))
                continue
            # `start` grows by at most READ_BYTES for each of EVENTS events.
            size = _receive(descriptor, &self.input.received[start])
            if size == 0:
                later.append((self.on_dropped, (connection,)))
                continue
            if size < 0:
                continue
            before = connection.read
            if before:
                later.append((self.on_data, (connection, before + self.input.part(start, start + size), False)))
                continue
            exchange = &self.exchanges[len(answering)]
            exchange.descriptor, exchange.start, exchange.end = descriptor, start, start + size
            self.answer_all(exchange, connection.address, clock, ending)
            if exchange.answers:
                answering.append(connection)
                start += size
            else:
                later.append((self.on_data, (connection, self.input.part(start, start + size), True)))
        if answering:
            self.send_all(answering, now + <double>self.connections.idle_timeout, later)
        self.is_undisturbed = not later and not self.is_watched_ready
        for callback, arguments in later:
            callback(*arguments)
        return self.statuses

    cdef int answer_all(self, Exchange *exchange, str peer, double clock, bint ending) except -1:
        """Answer the complete heads at the start of the input, up to the first one that is not known."""
        cdef Py_ssize_t start = exchange.start, end
        exchange.first_end = exchange.answered_end = start
        exchange.out_start = self.output.size
        exchange.answers, exchange.closes = 0, False
        while exchange.answers < MAX_ANSWERS and not exchange.closes:
            end = self.input.head_end(start, exchange.end)
            if end < 0:
                break
            if not self.answer_plain(exchange, start, end, peer, clock, ending) and not self.answer_in_python(
                exchange, start, end, peer, clock, ending
            ):
                break
            start = exchange.answered_end = end
            if not exchange.answers:
                exchange.first_end = end
            exchange.answers += 1
        exchange.out_end = self.output.size
        return 0

    cdef bint answer_in_python(
        self, Exchange *exchange, Py_ssize_t start, Py_ssize_t end, str peer, double clock, bint ending
    ) except -1:
        answer = self.lane.answer(self.input.part(start, end), peer, clock, ending)
        self.young = None
        if answer is None:
            return False
        cdef bytes sent, payload
        status, sent, closes, payload = answer
        self.output.add_bytes(sent, 0)
        if payload:
            _add_frame(self.records, payload)
        self.statuses.append(status)
        exchange.closes = closes
        return True

    cdef bint answer_plain(
        self, Exchange *exchange, Py_ssize_t start, Py_ssize_t end, str peer, double clock, bint ending
    ) except -1:
        """Return False, without side effects, if Python code must answer."""
        cdef Py_ssize_t code, at
        cdef bint is_head
        cdef uint8_t *received = &self.input.received[0]
        # A head has at least 19 bytes from here on, or it is not known.
        if end - start < 24 or self.refusing[0] != 0.0:
            return False
        if memcmp(received + start, b"GET /", 5) == 0:
            code, is_head = start + 5, False
        elif memcmp(received + start, b"HEAD /", 6) == 0:
            code, is_head = start + 6, True
        else:
            return False
        at = code
        while at < end and _IN_CODE[self.input.received[at]]:
            at += 1
        if not 0 < at - code <= _MAX_CODE or end - at < 11 or memcmp(received + at, b" HTTP/1.1\r\n", 11) != 0:
            return False
        cdef Block block = self.blocks.block_of(self.input, start, at + 11, end)
        if block is None:
            return False
        cdef bytes key = self.input.part(code, at)
        if block.suffix is not None:
            key += block.suffix
        if self.young is None:
            self.young = self.lane._prepared.young
        cdef bytes prepared = self.young.get(key)
        if prepared is None or PyBytes_GET_SIZE(prepared) < <Py_ssize_t>sizeof(prepared_head):
            return False
        if not self.is_clock_current:
            self.start_batch(clock, peer, block.fields)
        cdef prepared_head link
        memcpy(&link, PyBytes_AS_STRING(prepared), sizeof(prepared_head))
        if (
            link.rules
            or link.status == 0
            or link.until <= clock
            or self.slots[link.code_slot] != link.code_number
            or self.slots[link.host_slot] != link.host_number
        ):
            return False
        cdef bint closes = ending or block.closes
        cdef bytes first_lines = (self.close_starts if closes else self.keep_alive_starts).get(link.status)
        if first_lines is None:
            return False
        cdef uint8_t kind
        cdef str client = peer
        if self.trusted or ":" in peer:
            client = self.client_of(peer, block.forwarded_for, self.trusted)
        kind = _HEAD_KIND if is_head else block.kind
        if not _add_record(self.records, self.microseconds, link.link_id, kind, link.flags | block.flags, client, block):
            return False
        if self.lane._remember_budget:
            self.lane._remember_budget -= 1
            self.followed.remember(client, key)
        self.output.add_bytes(first_lines, 0)
        self.output.add_bytes(prepared, sizeof(prepared_head))
        self.statuses.append(link.status)
        exchange.closes = closes
        return True

    cdef int start_batch(self, double clock, str peer, fields) except -1:
        """Update the lane's clock like `FastLane.answer`, with the first link that is known."""
        if clock != self.lane._now:
            self.lane._update_clock(clock, peer, fields)
        self.microseconds = self.lane._microseconds
        self.keep_alive_starts, self.close_starts = self.lane._keep_alive_starts, self.lane._close_starts
        self.is_clock_current = True
        return 0

    cdef int send_all(self, list answering, double deadline, list later) except -1:
        """Write the records to the journal with one write, then send the answers."""
        cdef Py_ssize_t index, sent, size
        cdef Exchange *exchange
        if self.records.size:
            try:
                journal().append_frames(self.records.part(0, self.records.size))
            except OSError:
                for index, connection in enumerate(answering):
                    exchange = &self.exchanges[index]
                    later.append((self.on_unrecorded, (
                        connection,
                        self.input.part(exchange.start, exchange.first_end),
                        self.input.part(exchange.first_end, exchange.end),
                    )))
                self.statuses = []
                return 0
        for index, connection in enumerate(answering):
            exchange = &self.exchanges[index]
            connection.deadline = deadline
            size = exchange.out_end - exchange.out_start
            sent = _send(exchange.descriptor, self.output.data + exchange.out_start, size)
            if sent < 0:
                later.append((self.on_dropped, (connection,)))
            elif sent < size or exchange.closes or exchange.answered_end < exchange.end or exchange.answers == MAX_ANSWERS:
                later.append((self.on_answered, (
                    connection,
                    self.output.part(exchange.out_start + sent, exchange.out_end),
                    self.input.part(exchange.answered_end, exchange.end),
                    exchange.closes,
                    exchange.answers == MAX_ANSWERS,
                )))
        return 0
