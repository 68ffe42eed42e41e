"""Imports the visits that another service counted, as clicks by day. The entry points are `reader.read_visits`,
`services.match` and `services.add`. `layouts` names the formats that it reads.
"""
