"""Lookups of a link by (host, code). `lookup.find_target` is the entry point, and `batch_lookup` reads many links at
once. `cache` keeps results in memory, and `known_links` on disk for database outages. `invalidation_listener`
invalidates them when another host changes a link.

`codes` finds the addresses at which links can be followed. `group_claims` claims the clicks of many visits of capped
links with one statement. `utm` adds campaign parameters to a destination.
"""
