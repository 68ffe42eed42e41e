"""Accounts and their plans. `services` creates and changes accounts, `credentials` holds keys, tokens and sessions.

`throttling`, `caps` and `concurrency` limit what an account may do; `idempotency` makes creations safe to repeat.
"""
