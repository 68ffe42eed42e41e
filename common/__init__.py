"""Code that all apps share and that knows none of them.

`http` reads addresses, hosts and URLs, `rest` and `openapi` are for API views, `host` is the state that the processes
of a host share, `postgresql` and `database` are for connections. The other modules are single functions or types, such
as `ids` and `errors`.
"""
