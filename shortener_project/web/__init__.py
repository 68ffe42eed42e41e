"""Everything around the apps' views: `middleware`, `errors` (error pages), `views` (health checks), `metrics`,
`schema` (the API description), and `static_headers` (headers of static files).
"""
