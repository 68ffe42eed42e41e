"""Verification by DNS: `proof` decides, `resolver` sends the queries, `advice` explains problems, and `recheck`
repeats the verification every day.
"""
