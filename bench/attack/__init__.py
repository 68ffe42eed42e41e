"""Attacks on the service, each a program of its own."""
