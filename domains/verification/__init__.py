"""Verification by DNS: `proof` decides, `resolver` sends the queries, `advice` explains problems, and `recheck`
repeats the verification every day. `records` are the DNS records that a domain needs.
"""
