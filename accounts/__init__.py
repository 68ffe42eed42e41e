"""Accounts, and the workspaces that own links, domains and QR codes.

`services` creates accounts and logs them in, `selectors` finds them, and `views` is their users' own API. `callers`
has the caller of each request, and `api_requests` the steps before its view: authentication, permissions, limits and
safe retries. `rights` says what plans, roles and scopes allow, `caps` how much a workspace may hold, `admission` who
is next to do costly work, and `history` records who changed what.

`password_hashing` and `second_factor` check who logs in, and `sessions` keeps them logged in. Programs use `api_keys`.
`workspaces` and `invitations` change who works together, `mails` sends mails, with limits, and `identities` are those
of the OpenID provider. `representations` has accounts as JSON, and `serializers` the query of each history.
"""
