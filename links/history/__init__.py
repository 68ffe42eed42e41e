"""The history of single links: reading it, and restoring former values."""
