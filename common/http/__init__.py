"""HTTP: client addresses, hosts, URLs, headers for browsers, and the current request."""
