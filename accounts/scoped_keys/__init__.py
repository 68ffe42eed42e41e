"""Keys with scopes: `lookup` authenticates with them, and `services` changes them. `domains.keys` is their API."""
