"""The history of changes: recording, reading and deleting it."""
