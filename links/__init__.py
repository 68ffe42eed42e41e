"""Links and their codes. `services` writes one link, `bulk` many and `transfer` files of links; `storage` has the SQL.

`selectors` and `lists` read links for their owners, `operators` for the `admin`; `searches` has the filters of lists,
and `list_counts` their totals. `destinations` looks up the link of a redirect. `clicks` takes a click of a limited
link, and adds counted clicks to links. The changes of links are in `history`.

`codes` validates, generates and reserves codes, and `code_claims` decides who has one. `routing` has the fields that
decide where a link leads, and `key_limits` restricts callers with limited keys. `fields` and `errors` are
shared by several calls of the API.
"""
