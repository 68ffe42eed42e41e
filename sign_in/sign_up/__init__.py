"""How people become users: sign-up with a confirmed address, and invitations to workspaces. Entry point: `views`."""
