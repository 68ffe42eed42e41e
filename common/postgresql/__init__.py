"""Django's PostgreSQL backend with client-side timeouts for web workers. Django loads `base`.
`timeouts.BoundedConnection` has a timeout for each statement, and can be used without Django.

The server's own timeouts do not help if the server is frozen or unreachable, or if a commit waits for a synchronous
standby that has disappeared.
"""
