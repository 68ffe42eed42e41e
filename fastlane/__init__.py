"""The fast lane: an event loop that answers most visits of short links without Django. It is optional.

In the order in which a request passes through it: `worker` is gunicorn's worker, `sockets` accepts and reads
connections, `fast` answers from memory, `handoff` passes everything else to threads that run Django, and `sockets`
sends. `warm_start` gives new workers the links that were followed recently, and `compiled` is the loop in Cython.

Code outside imports `door` only; gunicorn imports `worker`.
"""
