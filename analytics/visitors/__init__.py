"""Who a visitor is: `visitor` reads a request, `useragent` and `geo` the details. `geo_download` replaces the city
database with the current one.
"""
