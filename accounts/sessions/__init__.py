"""Sessions of the API: one row per login, `queries` that authenticate by it, its `lifecycle`, `rotation` of tokens.

Sessions of browsers are listed with them (`browser`); their content is in `store`, Django's session engine.
"""
