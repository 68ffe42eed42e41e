"""Programs that use the API, each with its own pyproject.toml or package.json; the service imports none of them."""
