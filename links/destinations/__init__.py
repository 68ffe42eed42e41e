"""Lookups of a link by (host, code). `lookup.find_target` is the entry point, and `batch_lookup` reads many links at
once. `cache` keeps results in memory, and `known_links` on disk for database outages. `invalidation_listener`
invalidates them when another host changes a link. `utm` adds campaign parameters to a destination.
"""
