"""Customers' domains. `services` claims, verifies and deletes them; `verification` checks their DNS.

`fallbacks` holds the redirect targets for requests that match no link, and `tls` decides which hosts get certificates.
"""
