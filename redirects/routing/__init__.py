"""Chooses the destination of a visit: rules, a split, and forwarded query parameters. Reads no database.

`router.compile_router` and `visit.Visit` are the entry points. The Django view, the fast lane and the simulation share
them.
"""
