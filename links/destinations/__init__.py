"""Lookups of a link by (host, code). `lookup.find_target` is the entry point. `cache` keeps results in memory, and
`known_links` on disk for database outages. `invalidation_listener` invalidates them when another host changes a link.
"""
