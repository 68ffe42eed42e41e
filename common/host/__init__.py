"""State that the processes of one host share.

`cache_versions` invalidates caches. `state` records known changes and the last contact with the database, and
`missed_changes` the gaps in the notifications. `guess_counts` limits requests for unknown codes, and `metrics` counts
events.
"""
