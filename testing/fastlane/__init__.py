"""Runs requests through the fast lane, and compares it with plain Django in stock gunicorn."""
