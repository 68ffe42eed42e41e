"""Keys with scopes: `lookup` authenticates with them, `services` changes them, and `selectors` lists them.
`domains.keys` is their API.
"""
