"""Workspaces: `services` changes workspaces and members, `invitations` adds members, `selectors` reads both, and
`views` is their API. `owner_columns` is for the migrations that made workspaces the owners of other apps' rows.
"""
