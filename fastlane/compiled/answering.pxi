"""The requests of a batch, and their answers."""

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
cdef class Batch:
    """Answers what several connections have sent, with the lane's tables. The caller writes the records to the journal,
    then sends the answers.
    """

    cdef object lane, followed, client_of
    cdef dict young, keep_alive_starts, close_starts
    cdef uint64_t[::1] counters
    cdef double[::1] refusing
    cdef tuple trusted
    cdef bint is_clock_current, ending
    cdef double clock
    cdef int64_t microseconds
    cdef Input input
    cdef HeaderBlocks blocks
    cdef Buffer records, output
    cdef list statuses
    # The connections that have been answered.
    cdef Exchange[EVENTS] exchanges
    cdef int answered

    def __init__(self, lane):
        self.lane, self.client_of = lane, cached_client_address
        self.counters, self.refusing, self.followed = lane._counters, lane._refusing, lane._followed
        self.trusted = lane._trusted
        self.input, self.blocks = Input(), HeaderBlocks(lane._own_hosts)
        self.records, self.output = Buffer(), Buffer()

    cdef int begin(self, double clock, bint ending) except -1:
        """``clock`` in seconds since 1970. ``ending``: each answer closes its connection."""
        self.statuses, self.is_clock_current, self.young = [], False, None
        self.clock, self.ending, self.answered = clock, ending, 0
        self.records.clear()
        self.output.clear()
        return 0

    cdef Py_ssize_t input_start(self) noexcept:
        """Where the next connection's input begins, with room for READ_BYTES for each of EVENTS connections."""
        return self.exchanges[self.answered - 1].end if self.answered else 0

    cdef bint answer_all(self, int descriptor, Py_ssize_t start, Py_ssize_t end, str peer) except -1:
        """Answer the complete heads at the start of the input, up to the first one that is not known.

        Return False, and forget the input, if none is known.
        """
        cdef Exchange *exchange = &self.exchanges[self.answered]
        cdef Py_ssize_t head_end
        exchange.descriptor, exchange.start, exchange.end = descriptor, start, end
        exchange.first_end = exchange.answered_end = start
        exchange.out_start = self.output.size
        exchange.answers, exchange.closes = 0, False
        while exchange.answers < MAX_ANSWERS and not exchange.closes:
            head_end = self.input.head_end(start, end)
            if head_end < 0:
                break
            if not self.answer_plain(exchange, start, head_end, peer) and not self.answer_in_python(
                exchange, start, head_end, peer
            ):
                break
            start = exchange.answered_end = head_end
            if not exchange.answers:
                exchange.first_end = head_end
            exchange.answers += 1
        exchange.out_end = self.output.size
        if not exchange.answers:
            return False
        self.answered += 1
        return True

    cdef bint answer_in_python(self, Exchange *exchange, Py_ssize_t start, Py_ssize_t end, str peer) except -1:
        answer = self.lane.answer(self.input.part(start, end), peer, self.clock, self.ending)
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

    cdef bint answer_plain(self, Exchange *exchange, Py_ssize_t start, Py_ssize_t end, str peer) except -1:
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
            self.start_batch(peer, block.fields)
        cdef prepared_head link
        memcpy(&link, PyBytes_AS_STRING(prepared), sizeof(prepared_head))
        if (
            link.rules
            or link.status == 0
            or link.until <= self.clock
            or self.counters[link.code_counter] != link.code_number
            or self.counters[link.host_counter] != link.host_number
        ):
            return False
        cdef bint closes = self.ending or block.closes
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

    cdef int start_batch(self, str peer, fields) except -1:
        """Update the lane's clock like `FastLane.answer`, with the first link that is known."""
        if self.clock != self.lane._now:
            self.lane._update_clock(self.clock, peer, fields)
        self.microseconds = self.lane._microseconds
        self.keep_alive_starts, self.close_starts = self.lane._keep_alive_starts, self.lane._close_starts
        self.is_clock_current = True
        return 0

    cdef bint record_all(self) except -1:
        """Write the records to the journal with one write. Return False, and forget the statuses, if that fails."""
        if self.records.size:
            try:
                journal().append_frames(self.records.part(0, self.records.size))
            except OSError:
                self.statuses = []
                return False
        return True

    cdef bint is_last(self, int index) noexcept:
        """Whether the answers end the connection, and the client has sent nothing after their requests."""
        cdef Exchange *exchange = &self.exchanges[index]
        return (
            exchange.closes
            and not self.ending
            and exchange.answered_end == exchange.end
            and exchange.answers < MAX_ANSWERS
        )

    cdef Py_ssize_t send(self, int index, bint more) noexcept:
        """As `_send`."""
        cdef Exchange *exchange = &self.exchanges[index]
        cdef Py_ssize_t size = exchange.out_end - exchange.out_start
        return _send(exchange.descriptor, self.output.data + exchange.out_start, size, more)

    cdef bint is_finished(self, int index, Py_ssize_t sent) noexcept:
        """Whether all answers were sent, and the connection has sent nothing else."""
        cdef Exchange *exchange = &self.exchanges[index]
        return (
            sent == exchange.out_end - exchange.out_start
            and exchange.answered_end == exchange.end
            and exchange.answers < MAX_ANSWERS
        )

    cdef tuple rest(self, int index, Py_ssize_t sent):
        """Return the arguments of ``on_answered``."""
        cdef Exchange *exchange = &self.exchanges[index]
        return (
            self.output.part(exchange.out_start + sent, exchange.out_end),
            self.input.part(exchange.answered_end, exchange.end),
            exchange.closes,
            exchange.answers == MAX_ANSWERS,
        )

    cdef tuple unrecorded(self, int index):
        """Return the arguments of ``on_unrecorded``: the first request and the others."""
        cdef Exchange *exchange = &self.exchanges[index]
        return (
            self.input.part(exchange.start, exchange.first_end),
            self.input.part(exchange.first_end, exchange.end),
        )
