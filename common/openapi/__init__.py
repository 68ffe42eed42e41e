"""The OpenAPI description: `operations.describe` for views, `responses.Representation` for objects in responses.

`response_fields` has short forms for the fields of an object, `enumerations` names choices, and `pagination` and
`response_warnings` are parts of several responses. `refusals` describes errors. `hooks` adds what drf-spectacular
omits, such as links between operations.
"""
