"""Workspaces: `membership` finds the caller's workspace and role, `services` changes workspaces and members."""
