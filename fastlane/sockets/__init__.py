"""The sockets of one process. `event_loop.EventLoop` reads and writes them without blocking.

`compiled_loop.event_loop` creates the loop, and `admission` accepts connections. `connection` and `open_connections`
have their state and limits, `incoming` finds the end of a request, and `outgoing` holds what a client has yet to read.
"""
