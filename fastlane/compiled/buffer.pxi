"""The output and the records of a batch."""


@cython.final
cdef class Buffer:
    """Bytes that grow at their end."""

    cdef uint8_t *data
    cdef Py_ssize_t size, capacity

    def __dealloc__(self):
        PyMem_Free(self.data)

    cdef int reserve(self, Py_ssize_t size) except -1:
        """Make room for ``size`` more bytes."""
        cdef Py_ssize_t capacity = self.capacity or 65536
        cdef void *data
        if size > self.capacity - self.size:
            while size > capacity - self.size:
                capacity *= 2
            data = PyMem_Realloc(self.data, capacity)
            if data == NULL:
                raise MemoryError
            self.data, self.capacity = <uint8_t *>data, capacity
        return 0

    cdef int add(self, const void *data, Py_ssize_t size) except -1:
        self.reserve(size)
        memcpy(self.data + self.size, data, size)
        self.size += size
        return 0

    cdef int add_bytes(self, bytes data, Py_ssize_t start) except -1:
        """Add the bytes from ``start`` on, which is at most the length."""
        return self.add(PyBytes_AS_STRING(data) + start, PyBytes_GET_SIZE(data) - start)

    cdef bytes part(self, Py_ssize_t start, Py_ssize_t end):
        if not 0 <= start <= end <= self.size:
            raise IndexError
        return PyBytes_FromStringAndSize(<char *>self.data + start, end - start)

    cdef void clear(self) noexcept:
        self.size = 0
        if self.capacity > KEPT_BYTES:
            PyMem_Free(self.data)
            self.data, self.capacity = NULL, 0
