"""Hostile requests as raw bytes, slow clients, and the replies of stock gunicorn or a proxy to the same bytes."""
