"""State that the processes of one host share.

`cache_versions` invalidates caches. `state` records known changes, gaps in the notifications, and the last contact
with the database, and `primary` which server this host uses. `metrics` counts events, and `metric_files` shares the
counts between processes. `vitals` has signs of life, and `processes` names and priorities.

`limited_warnings` warns the operator, for example about proxies that are not set up, but not too often.
"""
