"""The parts of other shorteners' APIs by which programs create links: such a program needs only another address.

Off, unless COMPATIBLE_APIS names them. `shlink` and `bitly` translate names and values: each request is one of the API
of this service, by `common.rest.inner_calls`, and each response has the form of the other one's.
"""
