"""Following links in the process of a test."""
