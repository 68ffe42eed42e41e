"""Accounts and their plans. `services` creates accounts and logs them in, `selectors` finds them, and `own_account` is
their users' own API.

`callers` has the caller of each request, and `api_requests` the steps before its view: authentication, permissions,
limits and safe retries. `rights` says what plans, roles and scopes allow, `capacity` bounds the use of shared
resources, and `history` records who changed what.

`credentials` and `second_factor` check who logs in, and `sessions` keeps them logged in. Programs use an account's
main key or `scoped_keys`. `workspaces` own links, domains and QR codes. `mails` sends mails, with limits, and `age`
puts the age of an account into words.
"""
