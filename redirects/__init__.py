"""Following a link. `worker` runs in each web worker, and `checks` decides who may follow a link.

`sockets` reads requests, `fast` answers plain links without Django, and `handoff` passes everything else to threads
that run `views`. `routing` chooses the destination. `warm_start` gives new workers the links that were followed
recently, and `simulation` explains a visit without making it.

`refusals` lists all refusals, `pages` shows them in the `page_style` of small pages, which `sign_in` shares, and
`unknown_hosts` refuses requests for a host that is not an active domain.
"""
