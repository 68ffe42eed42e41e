"""Stores each click before its response. Redirects call `capture`, or `writer` in the event loop, and the pipeline
calls `reader`. `records` is the format of a record. Records that the journal cannot take, and those of claimed clicks,
reach the pipeline through the database (`pending`).

For operators, `backlog` counts the clicks that are not counted yet, and `drops` those that were lost.
"""
