"""Counts the journal's records in the tables. `pipeline.Drainer` reads one `batch.Batch` after another and counts each
in one transaction: `segments` stores how far the journal was counted, and `tables` the clicks. `audit` compares the
counters with the clicks, and `retention` deletes expired data.
"""
