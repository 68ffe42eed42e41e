"""The sockets of one process. `event_loop.EventLoop` reads and writes them without blocking.

`compiled_loop.event_loop` creates the loop, and `acceptor.Acceptor` admits new connections. `connections` has the
state and the limits of each one, `requests` finds the end of a request, and `responses` holds the bytes that a client
has not read yet.
"""
