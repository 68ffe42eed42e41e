"""Sessions, one row for each login: their start and end (`lifecycle`), and the `tokens` of those of the API, whose
refresh tokens work once (`rotation`).

Sessions of browsers are listed with them (`browser`); their content is in `store`, Django's session engine.
"""
