"""Credentials: API `keys`, `tokens`, admin `sessions`, password `hashers`, and their use in `authentication`."""
