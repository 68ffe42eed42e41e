"""The parts of the REST API that all apps share: `api` (base views), `access` (who may call an action), `returns`
(what it returns), `envelope` (the shape of responses and errors), `strict_json` (request bodies), `fields`
(validation), `unknown_fields` and `pagination`.
"""
