"""Limits on the use of shared resources: `caps` on the number of objects, `concurrency` of expensive calls,
`admission` to work that occupies a thread.
"""
