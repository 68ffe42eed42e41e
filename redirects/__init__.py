"""Following a link: `views` answers a request, and `checks` decides who may follow a link.

`routing` chooses the destination, and `simulation` explains a visit without making it.

`refusals` lists all refusals, `pages` shows them in the `page_style` of small pages, which `sign_in` shares, and
`unknown_hosts` refuses requests for a host that is not an active domain.
"""
