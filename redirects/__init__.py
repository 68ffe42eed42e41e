"""Following a link: `views` answers a request, and `checks` decides who may follow a link.

`router` chooses the destination of a `visit`, by `rule_conditions` and splits, and reads no database. `simulation`
explains a visit without making it.

`refusals` lists the refusals of links, and `request_guard` refuses what needs no look-up. `redirect_headers` and
`previews` have the answers that both lanes send.
"""
