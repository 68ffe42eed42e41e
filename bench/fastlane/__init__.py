"""Proofs of the fast lane: its two event loops, and stock gunicorn, do the same."""
