"""Who a visitor is: `visitor` reads a request, `useragent` and `geo` the details. `geo_file` is the city database, and
`geo_download` replaces it with the current one.
"""
