"""The parts of the REST API that all apps share: `api` (base views), `envelope` (responses and errors), `strict_json`
(request bodies), `handling` (unknown fields), `fields`, `lists` and `json_serializers` (validation),
`response_warnings`, `pagination`.
"""
