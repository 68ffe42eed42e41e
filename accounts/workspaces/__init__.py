"""Workspaces: `services` changes workspaces and members, `invitations` adds members, `views` is their API."""
