"""Customers' domains. `services` claims, verifies, changes and deletes them, and `selectors` reads them.

`verification` checks their DNS with `resolver`, and repeats that every day. `addresses` is what other apps use for the
domain of a link, with or without a row: a customer's or the default domain. `views` is also the API of keys with
scopes, which may be limited to a domain, and decides which hosts get certificates.
"""
