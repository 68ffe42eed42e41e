"""Faults of a cluster in network namespaces, and what they cost. `__main__` describes the run."""
