"""Everything around the apps' views: `middleware`, `views` (pages and probes at the root, and errors of routes),
`metrics`, and `schema` (the API description).
"""
