"""Redirects of links that are not in memory."""
