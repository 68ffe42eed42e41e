"""Sessions, one row for each login: their start, use and end (`lifecycle`), and the `tokens` of those of the API.

Sessions of browsers are listed with them; their content is in `store`, Django's session engine.
"""
