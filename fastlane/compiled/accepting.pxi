"""Listeners, and the connections that the compiled part accepts from them."""


@cython.final
cdef class Listener:
    cdef int descriptor, epoll
    cdef bint is_internal
    cdef object try_admit, on_accepted, on_finished, accept_in_python

    def __init__(self, descriptor, epoll, is_internal, try_admit, on_accepted, on_finished, accept_in_python):
        self.descriptor, self.epoll, self.is_internal = descriptor, epoll, is_internal
        self.try_admit, self.on_accepted, self.on_finished = try_admit, on_accepted, on_finished
        self.accept_in_python = accept_in_python

    cdef list accept_all(self, dict newcomers):
        """Accept connections. Return those that were admitted.

        Add each to ``newcomers`` at once: admitting the next one may close the longest-idle connections, and a silent
        new one comes first.
        """
        cdef list admitted = []
        cdef sockaddr_storage address
        cdef socklen_t length
        cdef int descriptor, accepted
        cdef Newcomer newcomer
        for accepted in range(EVENTS):
            length = sizeof(sockaddr_storage)
            descriptor = _accept(self.descriptor, &address, &length)
            if descriptor < 0:
                # Python code handles a want of descriptors, for which `accept4` fails even if no client waits.
                if not accepted and errno != EAGAIN and errno != ECONNABORTED:
                    self.accept_in_python()
                break
            newcomer = Newcomer()
            newcomer.listener, newcomer.descriptor, newcomer.is_registered = self, descriptor, False
            newcomer.client, newcomer.peer = _client(&address, length)
            if self.try_admit(newcomer.client):
                admitted.append(newcomer)
                newcomers[descriptor] = newcomer
            else:
                close(descriptor)
        return admitted


@cython.final
cdef class Newcomer:
    """An open connection without a `Connection`: one that was answered and closed at once never gets it."""

    cdef Listener listener
    cdef int descriptor
    cdef bint is_registered
    cdef object client
    cdef str peer

    cdef int register(self) except -1:
        cdef epoll_event event
        if not self.is_registered:
            event.events, event.data.fd = EPOLLIN, self.descriptor
            if epoll_ctl(self.listener.epoll, EPOLL_CTL_ADD, self.descriptor, &event) < 0:
                raise OSError(errno, "epoll_ctl")
            self.is_registered = True
        return 0

    cdef object connection(self):
        """Return the `Connection` that replaces this object."""
        self.register()
        return self.listener.on_accepted(self.descriptor, self.client)

    cdef int finish(self) except -1:
        """Send what `_send` has kept and the end of the connection, in one packet, and close."""
        # If the client has sent more, a close alone would discard the packet. It is not repeated if it gets lost.
        shutdown(self.descriptor, SHUT_WR)
        # No other process has the socket, so it leaves the epoll by itself.
        close(self.descriptor)
        self.listener.on_finished(self.client)
        return 0


cdef int _accept(int listener, sockaddr_storage *address, socklen_t *length) noexcept:
    cdef int descriptor = accept4(listener, <sockaddr *>address, length, SOCK_NONBLOCK | SOCK_CLOEXEC)
    while descriptor < 0 and errno == EINTR:
        descriptor = accept4(listener, <sockaddr *>address, length, SOCK_NONBLOCK | SOCK_CLOEXEC)
    return descriptor


cdef tuple _client(sockaddr_storage *address, socklen_t length):
    """Return the client's address as `socket.accept` does, and its host ("": a Unix socket)."""
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
