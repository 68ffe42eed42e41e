"""The fast lane: an event loop that answers most visits of short links without Django. It is optional.

`worker` is gunicorn's worker class. `sockets` reads requests, `fast` answers plain links, and `handoff` passes
everything else to threads that run Django. `warm_start` gives new workers the links that were followed recently.
"""
