"""Helpers that tests and benchmarks share. It imports neither of them, and the service never imports it."""
