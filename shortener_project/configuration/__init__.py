"""The environment variables that configure the service.

`variables` is the table of all of them: `shortener_project.settings` gets one setting of each, and `page` writes
docs/configuration.md. `declaration` defines the kinds of variables, and `env` parses their text. `database` and
`sign_in` build the longer settings, and `checks` has the system checks for combinations of settings. To add a
variable, add an entry to `variables`.
"""
