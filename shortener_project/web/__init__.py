"""Everything around the apps' views: `middleware`, `errors` (error pages), `views` (health checks), `metrics`, and
`schema` (the API description).
"""
