"""Writes of clicks to the tables. `enrichment.facts` converts a record to the values that reports count,
`rollups.add_to_tables` adds a batch of them, `imported_days.add_days` adds the totals of another service, and
`lifetime_counts.close_days` adds past days to each link's lifetime counts.

A batch writes raw clicks (`raw_clicks`), the visitors of a day (`day_visitors`) and the rows of days (`days`). `salts`
has the secret salt of each day, under which visitors are hashed, `slots` gives each drainer rows of its own, and
`month_counts` has the SQL for the counts of busy months.
"""
