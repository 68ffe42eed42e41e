"""The frames of records, as `analytics.journal.records` makes them."""


cdef Py_ssize_t _begin_frame(Buffer records, Py_ssize_t size) except -1:
    """Return the position of a new frame's head. ``size``: of its payload, which follows."""
    cdef frame_head head
    if size > 0xFFFF:
        raise ValueError("The record is too long.")
    head.length, head.complement, head.checksum = size, size ^ 0xFFFF, 0
    records.add(&head, sizeof(frame_head))
    return records.size - <Py_ssize_t>sizeof(frame_head)


cdef int _end_frame(Buffer records, Py_ssize_t start) except -1:
    """Write the checksum of the frame that began at ``start`` and ends with the buffer."""
    cdef frame_head head
    cdef Py_ssize_t payload = start + <Py_ssize_t>sizeof(frame_head)
    if not 0 <= start <= payload <= records.size:
        raise IndexError
    memcpy(&head, records.data + start, sizeof(frame_head))
    head.checksum = _crc32c(records.data + payload, records.size - payload)
    memcpy(records.data + start, &head, sizeof(frame_head))
    return 0


cdef int _add_frame(Buffer records, bytes payload) except -1:
    cdef Py_ssize_t start = _begin_frame(records, PyBytes_GET_SIZE(payload))
    records.add_bytes(payload, 0)
    return _end_frame(records, start)


def frame(bytes payload):
    """Return the frame of a payload, as `analytics.journal.records.frame` does."""
    cdef Buffer records = Buffer()
    _add_frame(records, payload)
    return records.part(0, records.size)


cdef bint _add_record(
    Buffer records, int64_t microseconds, int64_t link_id, uint8_t kind, uint8_t flags, str client, Block block
) except -1:
    """Return False if the record does not fit its format."""
    cdef bytes address = client.encode()
    cdef Py_ssize_t agent = PyBytes_GET_SIZE(block.agent), referrer = PyBytes_GET_SIZE(block.referrer)
    cdef Py_ssize_t size = <Py_ssize_t>sizeof(record_head) + PyBytes_GET_SIZE(address) + agent + referrer
    cdef record_head head
    if PyBytes_GET_SIZE(address) > 0xFF or size > 0xFFFF:
        return False
    head.time, head.subject, head.kind, head.flags = microseconds, link_id, kind, flags
    head.address, head.reason, head.agent, head.referrer = PyBytes_GET_SIZE(address), 0, agent, referrer
    cdef Py_ssize_t start = _begin_frame(records, size)
    records.add(&head, sizeof(record_head))
    records.add_bytes(address, 0)
    records.add_bytes(block.agent, 0)
    records.add_bytes(block.referrer, 0)
    _end_frame(records, start)
    return True
