"""The proof that no click is lost or counted twice. `faults` injects every fault in turn at a `site`, `writers` and
`drainers` are its processes, and `verdict` compares what clients saw with what was counted.
"""
