"""The OpenAPI description: `operations.describe` for views, `responses.Representation` for objects in responses.

`operations` also names choices, `responses` has short forms for fields and the parts that several responses share, and
`error_examples` describes errors. `document` has what all operations share, and adds what drf-spectacular omits, such
as links between operations.
"""
