"""Lists of links for their owners: `lists.list_links`, and `lists.list_limited_links` for limited keys.

`searches` has the filters and their SQL, and `counts` the totals, which are exact up to a limit.
"""
