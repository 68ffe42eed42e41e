"""Workspaces: `services` changes workspaces and members, `invitations` adds members, `selectors` reads both, and
`views` is their API.
"""
