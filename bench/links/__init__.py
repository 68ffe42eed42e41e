"""Lists over a million links."""
