"""Stores each click before its response: redirects call `capture`, the pipeline calls `reader`."""
