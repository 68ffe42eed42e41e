"""Counts the journal's records in the tables. `pipeline.Drainer` reads one `batch.Batch` after another and counts each
in one transaction: `segments` stores how far the journal was counted, and `rollups` the clicks.

`enrichment.facts_of` converts records to values that reports count, and `rollups.add_to_tables` adds a batch of them
to the raw clicks (`raw_clicks`), the visitors of a day (`day_visitors`) and the rows of days (`days`). Housekeeping
calls `closed_days.close_days`, which adds past days to lifetime counts, and `retention`, which deletes expired data.
`imported_days.add_days` adds the totals of another service. `audit` compares the counters with the clicks.
"""
