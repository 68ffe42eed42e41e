"""The API description and requests that are made from it."""
