"""Writes what the clients for Python and TypeScript derive from the OpenAPI description of the API.

    python -m clients.generate DESCRIPTION.json

`description.py` reads the description into operations and types; `python.py` and `typescript.py` write them down. What
does not depend on the description is written by hand: `python/src/shortener_client/runtime`, `typescript/src/runtime`.
"""
