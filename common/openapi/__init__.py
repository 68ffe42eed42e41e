"""The OpenAPI description: `operations.describe` for views, `responses.Representation` for objects in responses."""
