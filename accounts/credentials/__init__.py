"""Credentials: API `keys`, `tokens`, password `hashers`, and `hashing`, which limits concurrent hashes."""
