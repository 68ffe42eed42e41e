"""The lifetime of stored clicks. `partitions` creates and drops the months of raw clicks, `deletion` deletes expired
rows, and `former_routes` the former URLs of branches that no click needs. Housekeeping calls them.
"""
