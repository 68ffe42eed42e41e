"""The steps of an API request before its view: `authentication`, `permissions`, `throttling` and `idempotency`.

Views that no key may use inherit from `token_only.TokenOnlyViewSet`.
"""
