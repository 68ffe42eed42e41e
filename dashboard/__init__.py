"""The dashboard: a front end of static files (`dashboard/front`) that uses only the public API.

`views` serves the page and issues access tokens, `document` writes the page, `files` has the scripts and styles, and
`brand_style` gives the operator's colour and logo to the dashboard and
the admin site.
"""
