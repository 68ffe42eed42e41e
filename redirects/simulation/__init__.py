"""Explains which checks a visit of a link would pass, and where the visitor would end, without a visit.

`services.simulate` is the entry point, `views` the API, and `admin` adds it to the admin's page of a link.
"""
