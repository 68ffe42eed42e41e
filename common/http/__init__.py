"""HTTP: `client_address` finds the client behind proxies, and `urls` brings hosts and URLs to their canonical form.

`current_request` knows which request this thread handles and who sends it, and `browser_headers` protects pages in
browsers.
"""
