"""Following a link: `views` answers a request, and `checks` decides who may follow a link.

`routing` chooses the destination, and `simulation` explains a visit without making it.

`refusals` lists the refusals of links, and `unknown_hosts` refuses requests for a host that is not an active domain.
"""
