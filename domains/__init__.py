"""Customers' domains. `services` claims, verifies, changes and deletes them, and `selectors` reads them.

`verification` checks their DNS with `resolver`, and `recheck` repeats that every day. `tls` decides which hosts get
certificates. `addresses` is what other apps use for the domain of a link, with or without a row: a customer's or the
default domain. `keys` is the API of keys with scopes.
"""
