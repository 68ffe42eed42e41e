"""How people become users: sign-up with a confirmed address (`views`), and invitations to workspaces
(`invitation_views`).
"""
