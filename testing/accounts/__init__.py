"""Accounts, their workspaces and keys, and clients with their credentials."""
