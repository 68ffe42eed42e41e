"""Everything around the apps' views: `middleware`, `errors` (error pages), `views` (pages and probes at the root),
`metrics`, and `schema` (the API description). `api_requests` logs each API request under its own name.
"""
