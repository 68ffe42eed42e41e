"""The clients of the API, generated and used."""
