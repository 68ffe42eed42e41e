"""Waits for events of sockets, and calls sockets without blocking."""

cdef int _wait(int epoll, epoll_event *events, double timeout) except -1:
    """Fill in up to `EVENTS` events. Return their number.

    A signal ends the waiting. Its handler runs before this function returns.
    """
    cdef int milliseconds = <int>ceil(timeout * 1000), number
    with nogil:
        number = epoll_wait(epoll, events, EVENTS, milliseconds)
    if number < 0:
        if errno != EINTR:
            raise OSError(errno, "epoll_wait")
        PyErr_CheckSignals()
        return 0
    return number


cdef Py_ssize_t _receive(int descriptor, uint8_t *place) noexcept:
    """Return the bytes received, 0 if there will be none, or -1 if there are none now."""
    cdef Py_ssize_t size
    while True:
        size = recv(descriptor, place, READ_BYTES, MSG_DONTWAIT)
        if size >= 0:
            return size
        if errno != EINTR:
            return -1 if errno == EAGAIN else 0


cdef Py_ssize_t _send(int descriptor, const uint8_t *data, Py_ssize_t size, bint more) noexcept:
    """Return the bytes sent, or -1 if the client has disconnected.

    ``more``: keep the last packet until the socket is shut down.
    """
    cdef Py_ssize_t sent
    cdef int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (MSG_MORE if more else 0)
    while True:
        sent = send(descriptor, data, size, flags)
        if sent >= 0:
            return sent
        if errno != EINTR:
            return 0 if errno == EAGAIN else -1
