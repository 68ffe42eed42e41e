"""Tokens of OpenID Connect issuers, such as GitHub Actions and Kubernetes, in place of keys that programs would store.

A workspace says which tokens it accepts: a `ScopedKey` with an issuer instead of a text. `services` creates and
changes such keys, `tokens` finds the one as which a token acts, and `issuer_keys` has the public keys that verify
signatures.
"""
