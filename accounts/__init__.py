"""Accounts and their plans. `services` creates accounts and logs them in, and `own_account` is their users' own API.

`callers` has the caller of each request, and `api_requests` the steps before its view: authentication, permissions,
limits and safe retries. `rights` says what plans, roles and scopes allow.
"""
