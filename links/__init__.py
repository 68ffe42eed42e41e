"""Links and their codes. `services` writes one link, `bulk` many and `transfer` files of links; `storage` has the SQL.

`selectors` and `listing` read links for their owners, `operators` for the `admin`. `destinations` looks up the link of
a redirect, `clicks` counts its clicks, and `history` lists its changes.

`codes` validates, generates and reserves codes, `routing` has the fields that decide where a link leads, and
`key_limits` restricts callers with limited keys. `fields`, `errors` and `short_urls` are shared by several calls of
the API.
"""
