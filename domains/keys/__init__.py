"""The API of keys with scopes: `views`. It is above accounts, because a key may be limited to a domain."""
