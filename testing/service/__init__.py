"""The service as real processes, on one host or several, and clients of it."""
