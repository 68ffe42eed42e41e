"""Links and their codes. `services` writes one link, `bulk` many and `transfer` files of links; `storage` has the SQL.

`selectors` and `listing` read links for their owners, `operators` for the admin. `destinations` looks up the link of a
redirect.
"""
