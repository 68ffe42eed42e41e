"""Workspaces: `services` changes workspaces and members, `invitations` adds members, `views` is their API, and `admin`
is their page for operators.

`selectors` reads workspaces and members, `representations` shows them to members, and `ownership` limits how many an
account owns or joins. `owner_columns` is for the migrations that made workspaces the owners of other apps' rows.
"""
