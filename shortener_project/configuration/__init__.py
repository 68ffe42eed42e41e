"""The environment variables that configure the service.

`variables` is the table of all of them. `settings.py` reads it, and `page` writes docs/configuration.md from it.
`declaration` defines the kinds of variables, `env` parses their text, and `checks` holds the system checks for
combinations of settings. To add a variable, add an entry to `variables` and a line to `settings.py`.
"""
