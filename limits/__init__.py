"""Limits that the database counts, exact across all workers and hosts.

`attempts` limits attempts in a sliding window, and `rates` requests per minute and concurrent calls. `guessing`
combines limits against guesses at a password. A subject is any text that identifies the limited account, address or
network; the tables store a keyed digest of it. Only requests of an account have its id as subject. All tables are
unlogged: a crash of the database empties them, which permits a few extra attempts.
"""
