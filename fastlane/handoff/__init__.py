"""The way of a request to a thread: `channel` between processes, `departures` and `arrivals` at its ends,
`request_threads` for the threads of one process. `connection_owner.ConnectionOwner`, the base class of the worker,
connects them with the event loop.
"""
