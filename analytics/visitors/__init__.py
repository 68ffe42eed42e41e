"""Who a visitor is: `visitor` reads a request, `useragent` and `geo` the details."""
