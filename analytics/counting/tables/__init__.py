"""Writes of clicks to the raw table and the roll-ups. `enrichment.facts` converts a record to the values that reports
count, `rollups.add_to_tables` adds a batch of them, `imported_days.add_days` adds the totals of another service, and
`lifetime_counts.close_days` adds past days to each link's lifetime counts.

`salts` has the secret salt of each day, under which visitors are hashed, `slots` gives each drainer rows of its own,
and `month_counts` has the SQL for the counts of busy months.
"""
