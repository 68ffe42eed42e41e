"""State that the processes of one host share.

`cache_versions` invalidates caches. `state` records known changes and the last contact with the database, and
`missed_changes` the gaps in the notifications. `guess_counts` limits requests for unknown codes. `metrics` counts
events, and `metric_files` shares the counts between processes.

`internal_listener` recognises requests of the operator's programs. `unknown_hosts` and `untrusted_proxies` warn the
operator about hosts and proxies that are not set up. `priority` and `process_names` are for background processes.
"""
