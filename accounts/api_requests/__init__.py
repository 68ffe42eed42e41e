"""The steps of an API request before its view: `authentication`, `permissions`, `throttling` and `idempotency`."""
