"""Lists of links for their owners: `lists.list_links`, and `lists.list_limited_links` for limited keys.

`options` has the filters, `searches` their SQL, and `counts` the totals, which are exact up to a limit.
"""
