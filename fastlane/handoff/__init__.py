"""The way of a request to a thread: `departures` queues it, `between_processes` passes it to an API worker and its
connection back, and `request_threads` runs Django. `connection_owner.ConnectionOwner`, the base class of the worker,
connects them with the event loop.
"""
