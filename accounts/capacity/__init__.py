"""Limits on the use of shared resources: `caps` on the number of objects, `concurrency` of expensive calls,
`storage` on stored bytes, `admission` to work that occupies a thread.
"""
