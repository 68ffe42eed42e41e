"""The parts of the REST API that all apps share: `api` (base views), `envelope` (responses and errors), `strict_json`
(request bodies), `handling` and `known_names` (unknown fields), `fields`, `lists` and `json_serializers` (validation),
`versions` (conditional updates), `response_warnings`, `pagination`.
"""
