"""HTTP: `client_address` finds the client behind proxies, `hosts` and `destination_url` bring hosts and URLs to their
canonical form, and `ip_numbers` reads addresses quickly. `current_request` knows which request this thread handles and
who sends it, and `browser_headers` protects pages in browsers.
"""
