# cython: language_level=3, boundscheck=True, wraparound=False
"""The compiled part of the event loop: answers known plain links without Python code for each request.

It does what `EventLoop.run_once`, `Acceptor.accept_batch` and `FastLane.answer` do, with their tables. It parses no header
fields: it looks up blocks of fields that `read_head` has parsed. It passes everything else to the Python code, in the order
of arrival.

Every build checks the index of each single byte of the input. The calls with pointers (`memchr`, `memcmp`, `recv`) stay
within the input by the comparisons before them. Only `Buffer` and `_end_frame` write to memory that can move; both compare
with its size. Only `_wait` releases the interpreter lock. The sockets never block; the journal's write, which is in Python, can
wait for the disk.

All its files trade clarity for speed: offsets and structs instead of objects, and a second version of the Python code.
bench/results.csv, "Redirects", has the rates of both loops.
"""

import time
from os import fsdecode

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.exc cimport PyErr_CheckSignals
from libc.errno cimport EAGAIN, ECONNABORTED, EINTR, errno
from libc.math cimport ceil
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy

from analytics.journal.capture import KINDS
from analytics.journal.writer import journal
from links.models import MAX_CODE
from fastlane.fast.lane import cached_client_address
from fastlane.fast.request_head import NotSimple, read_head
from redirects.request_guard import link_key

include "layouts.pxi"
include "sockets.pxi"
include "crc32c.pxi"
include "buffer.pxi"
include "input.pxi"
include "header_blocks.pxi"
include "records.pxi"
include "answering.pxi"
include "accepting.pxi"

version = SOURCE_VERSION.decode()


@cython.final
cdef class PlainLinks:
    """Calls the functions of the constructor after a batch, for the connections that it has not finished."""

    cdef object connections
    cdef object on_special, on_data, on_answered, on_unrecorded, on_dropped
    cdef dict by_descriptor
    cdef int epoll
    cdef bint is_undisturbed
    cdef readonly bint is_watched_ready
    cdef Batch batch
    cdef epoll_event[EVENTS] events
    cdef dict listeners
    # By descriptor.
    cdef dict newcomers
    # What `run` returns.
    cdef list batches

    def __init__(self, lane, connections, *, on_special, on_data, on_answered, on_unrecorded, on_dropped):
        self.connections, self.batch, self.listeners = connections, Batch(lane), {}
        self.newcomers, self.batches = {}, []
        self.on_special, self.on_data, self.on_answered = on_special, on_data, on_answered
        self.on_unrecorded, self.on_dropped = on_unrecorded, on_dropped
        self.by_descriptor, self.epoll = connections.by_descriptor, connections.epoll.fileno()

    def listen(self, int descriptor, *, is_internal, try_admit, on_accepted, on_finished, accept_in_python):
        """Accept the connections of this listener, whose descriptor is in the epoll.

        ``try_admit``: whether to admit a client (its address). ``on_accepted`` returns the `Connection` of a descriptor
        and a client; ``on_finished`` is called instead if a client's connection is closed already.
        ``accept_in_python``: for the internal listener, and if no connection can be accepted.
        """
        self.listeners[descriptor] = Listener(
            descriptor, self.epoll, is_internal, try_admit, on_accepted, on_finished, accept_in_python
        )

    def unlisten(self, int descriptor):
        self.listeners.pop(descriptor, None)

    def add_newcomers(self):
        """Add a `Connection` for each connection that has none yet."""
        cdef Newcomer newcomer
        cdef list newcomers = list(self.newcomers.values())
        self.newcomers.clear()
        for newcomer in newcomers:
            newcomer.connection()

    def run(self, double timeout):
        """Wait for events for at most ``timeout`` seconds and process them. Return the batches of answers, as pairs of
        their statuses and the seconds that they took.

        If ``timeout`` is not 0, repeat that for about `REPEAT_SECONDS`, or until there are `REPEAT_BATCHES`, while there is
        nothing to do for Python code.
        """
        cdef list batches = []
        self.batches = batches
        cdef int number = _wait(self.epoll, self.events, timeout)
        cdef double now = time.monotonic(), end = now + REPEAT_SECONDS
        while True:
            self.run_once(number, now, time.time())
            if timeout <= 0.0 or not self.is_undisturbed or now >= end or len(batches) >= REPEAT_BATCHES:
                return batches
            # A signal that arrived before this call does not end the waiting, so it is short.
            number = _wait(self.epoll, self.events, min(timeout, REPEAT_SECONDS))
            if number == 0:
                return batches
            now = time.monotonic()

    cdef int run_once(self, int number, double now, double clock) except -1:
        """Process the first ``number`` events. ``now`` in monotonic seconds, ``clock`` in seconds since 1970."""
        self.is_watched_ready = self.is_undisturbed = False
        if not 0 < number <= EVENTS:
            return 0
        cdef list later = [], answering = [], acceptable = []
        cdef Batch batch = self.batch
        cdef Py_ssize_t start, size
        cdef int index, descriptor
        cdef uint32_t event
        batch.begin(clock, self.connections.ending)
        for index in range(number):
            descriptor, event = self.events[index].data.fd, self.events[index].events
            connection = self.by_descriptor.get(descriptor)
            if connection is None:
                newcomer = self.newcomers.pop(descriptor, None)
                if newcomer is not None:
                    self.read_newcomer(newcomer, answering, later)
                elif descriptor in self.listeners:
                    acceptable.append(descriptor)
                else:
                    self.is_watched_ready = True
                continue
            if connection.is_special:
                later.append((self.on_special, (connection, event)))
                continue
            start = batch.input_start()
            size = _receive(descriptor, &batch.input.received[start])
            if size == 0:
                later.append((self.on_dropped, (connection,)))
                continue
            if size < 0:
                continue
            before = connection.read
            if before:
                later.append((self.on_data, (connection, before + batch.input.part(start, start + size), False)))
            elif batch.answer_all(descriptor, start, start + size, connection.address):
                answering.append(connection)
            else:
                later.append((self.on_data, (connection, batch.input.part(start, start + size), True)))
        self.is_undisturbed = not self.is_watched_ready
        self.end_batch(answering, later, now)
        for descriptor in acceptable:
            # The process may have stopped to accept.
            listener = self.listeners.get(descriptor)
            if listener is not None:
                self.accept_all(listener)
        return 0

    cdef int accept_all(self, Listener listener) except -1:
        """Accept connections and answer the requests that have arrived on them."""
        cdef list answering = [], later = [], admitted
        cdef Newcomer newcomer
        if listener.is_internal:
            self.is_undisturbed = False
            listener.accept_in_python()
            return 0
        # Admitting a client may close other connections, so no request is read before that.
        admitted = listener.accept_all(self.newcomers)
        # The batch before this one may have waited for the disk.
        cdef double now = time.monotonic()
        self.batch.begin(time.time(), self.connections.ending)
        for newcomer in admitted:
            # Not if it has become a `Connection` since, which may be closed and its descriptor reused.
            if self.newcomers.get(newcomer.descriptor) is newcomer:
                del self.newcomers[newcomer.descriptor]
                self.read_newcomer(newcomer, answering, later)
        self.end_batch(answering, later, now)
        return 0

    cdef int read_newcomer(self, Newcomer newcomer, list answering, list later) except -1:
        cdef Batch batch = self.batch
        cdef Py_ssize_t start = batch.input_start()
        cdef Py_ssize_t size = _receive(newcomer.descriptor, &batch.input.received[start])
        if size == 0:
            newcomer.finish()
        elif size < 0:
            newcomer.register()
            self.newcomers[newcomer.descriptor] = newcomer
        elif batch.answer_all(newcomer.descriptor, start, start + size, newcomer.peer):
            answering.append(newcomer)
        else:
            later.append((self.on_data, (newcomer.connection(), batch.input.part(start, start + size), True)))
        return 0

    cdef int end_batch(self, list answering, list later, double now) except -1:
        """Write the records to the journal with one write, then send the answers, then call the functions.

        ``now``: when the batch began, in monotonic seconds.
        """
        cdef double deadline = now + <double>self.connections.idle_timeout
        cdef int index
        cdef bint is_recorded
        if answering:
            is_recorded = self.batch.record_all()
            for index, connection in enumerate(answering):
                if is_recorded:
                    self.send(index, connection, deadline, later)
                    continue
                if type(connection) is Newcomer:
                    connection = (<Newcomer>connection).connection()
                later.append((self.on_unrecorded, (connection, *self.batch.unrecorded(index))))
            if is_recorded:
                self.batches.append((self.batch.statuses, <double>time.monotonic() - now))
        if later:
            self.is_undisturbed = False
            for callback, arguments in later:
                callback(*arguments)
        return 0

    cdef int send(self, int index, connection, double deadline, list later) except -1:
        cdef Batch batch = self.batch
        cdef bint is_new = type(connection) is Newcomer, is_last = is_new and batch.is_last(index)
        cdef Py_ssize_t sent = batch.send(index, is_last)
        cdef bint is_finished = batch.is_finished(index, sent), closes = batch.exchanges[index].closes
        if is_new:
            if sent < 0 or (is_last and is_finished):
                return (<Newcomer>connection).finish()
            connection = (<Newcomer>connection).connection()
        connection.deadline = deadline
        if sent < 0:
            later.append((self.on_dropped, (connection,)))
        elif closes or not is_finished:
            later.append((self.on_answered, (connection, *batch.rest(index, sent))))
        return 0
