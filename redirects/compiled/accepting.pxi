"""Listeners, whose connections the compiled part accepts."""


@cython.final
cdef class Listener:
    """``descriptors`` and ``places``: of the connections accepted last, and of their answers in the batch, or -1."""

    cdef int descriptor
    cdef bint is_internal
    cdef object try_admit, on_accepted, on_finished, accept_in_python
    cdef int[EVENTS] descriptors
    cdef int[EVENTS] places

    def __init__(self, descriptor, is_internal, try_admit, on_accepted, on_finished, accept_in_python):
        self.descriptor, self.is_internal, self.try_admit = descriptor, is_internal, try_admit
        self.on_accepted, self.on_finished = on_accepted, on_finished
        self.accept_in_python = accept_in_python

    cdef int accept_all(self, list clients) except -1:
        """Accept connections. Add the admitted clients, as pairs of their address and its host ("": a Unix socket)."""
        cdef sockaddr_storage address
        cdef socklen_t length
        cdef int descriptor, accepted
        for accepted in range(EVENTS):
            length = sizeof(sockaddr_storage)
            descriptor = _accept(self.descriptor, &address, &length)
            if descriptor < 0:
                # Python code handles a want of descriptors, for which `accept4` fails even if no client waits.
                if not accepted and errno != EAGAIN and errno != ECONNABORTED:
                    self.accept_in_python()
                return 0
            client, peer = _client(&address, length)
            if self.try_admit(client):
                self.descriptors[len(clients)] = descriptor
                clients.append((client, peer))
            else:
                close(descriptor)
        return 0


cdef int _accept(int listener, sockaddr_storage *address, socklen_t *length) noexcept:
    cdef int descriptor = accept4(listener, <sockaddr *>address, length, SOCK_NONBLOCK | SOCK_CLOEXEC)
    while descriptor < 0 and errno == EINTR:
        descriptor = accept4(listener, <sockaddr *>address, length, SOCK_NONBLOCK | SOCK_CLOEXEC)
    return descriptor


cdef tuple _client(sockaddr_storage *address, socklen_t length):
    """Return the client's address as `socket.accept` does, and its host."""
    cdef char[INET6_ADDRSTRLEN] text
    cdef sockaddr_in *four = <sockaddr_in *>address
    cdef sockaddr_in6 *six = <sockaddr_in6 *>address
    cdef str host
    if address.ss_family == AF_INET:
        inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text))
        host = text.decode("ascii")
        return (host, ntohs(four.sin_port)), host
    if address.ss_family == AF_INET6:
        inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text))
        host = text.decode("ascii")
        return (host, ntohs(six.sin6_port), ntohl(six.sin6_flowinfo), six.sin6_scope_id), host
    return _name(<sockaddr_un *>address, length), ""


cdef object _name(sockaddr_un *address, socklen_t length):
    """Return the name of a Unix socket: bytes if it is abstract."""
    cdef Py_ssize_t size = <Py_ssize_t>length - <Py_ssize_t>(<char *>address.sun_path - <char *>address)
    if size <= 0:
        return ""
    cdef bytes name = PyBytes_FromStringAndSize(address.sun_path, min(size, <Py_ssize_t>sizeof(address.sun_path)))
    return name if name.startswith(b"\0") else fsdecode(name.partition(b"\0")[0])
