"""The input of a batch."""

# The bytes of codes that need no decoding.
cdef uint8_t[256] _IN_CODE


cdef void _fill_code_table():
    cdef int byte
    for byte in range(256):
        _IN_CODE[byte] = chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "._~-")


_fill_code_table()


@cython.final
cdef class Input:
    cdef bytearray memory
    cdef uint8_t[::1] received

    def __init__(self):
        self.memory = bytearray(EVENTS * READ_BYTES)
        self.received = self.memory

    cdef bytes part(self, Py_ssize_t start, Py_ssize_t end):
        if not 0 <= start <= end <= EVENTS * READ_BYTES:
            raise IndexError
        return PyBytes_FromStringAndSize(PyByteArray_AS_STRING(self.memory) + start, end - start)

    cdef Py_ssize_t head_end(self, Py_ssize_t start, Py_ssize_t end) except -2:
        """Return the end of the first head, or -1."""
        cdef const uint8_t *at
        cdef Py_ssize_t position
        while end - start >= 4:
            at = <const uint8_t *>memchr(&self.received[start + 3], b"\n", end - start - 3)
            if at == NULL:
                return -1
            position = at - &self.received[0]
            if (
                self.received[position - 1] == b"\r"
                and self.received[position - 2] == b"\n"
                and self.received[position - 3] == b"\r"
            ):
                return position + 1
            start = position - 2
        return -1
