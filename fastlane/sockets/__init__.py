"""The sockets of one process, which are read and written without blocking.

In the order of the data: `admission` accepts a connection and `connections` has its state, `event_loop` reads it and
answers simple requests, `reader` goes on with all others, `incoming` finds the end of a request, and `outgoing` has
what a client has not read yet.
"""
