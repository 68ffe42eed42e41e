"""Following a link. `worker` runs in each web worker, and `access` decides who may follow a link.

`sockets` reads requests, `fast` answers plain links without Django, and `handoff` passes everything else to threads
that run `views`.
"""
