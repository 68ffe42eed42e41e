"""Clients of a running service."""
