"""Customers' domains. `services` claims, verifies and deletes them, and `selectors` reads them; `verification` checks
their DNS.

`addresses` is what other apps use for the domain of a link, with or without a row: a customer's or the default domain.
`fallbacks` holds the redirect targets for requests that match no link, and `tls` decides which hosts get certificates.
`keys` is the API of keys with scopes.
"""
