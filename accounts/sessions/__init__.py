"""Sessions of the API: one row per login, `queries` that authenticate by it, its `lifecycle`, `rotation` of tokens."""
