"""Code that all apps share. It imports none of them.

`http` reads addresses, hosts and URLs, `rest` and `openapi` are for API views, `admin` is for pages of operators, and
`host` is the state that the processes of a host share. `postgresql` and `database` are for connections and
statements, and `instances` creates objects of models on hot paths.

`outbound` sends requests to addresses that users enter, and `resolver` queries DNS.

The other modules are single functions or types. `errors`, `ids`, `pages` and `time_zones` are for services and their
API. `secrets` derives keys and seals content, and `bounded_cache` caches in memory. `brand`, `colors` and `countries`
are for what people see. `long_commands` is for commands that take minutes.
"""
