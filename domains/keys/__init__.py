"""The API of keys with scopes. It is above accounts, because a key may be limited to a domain."""
