"""The environment variables that configure the service.

`variables` is the table of all of them; those of the brand, of clicks and of processes are in `brand_variables`,
`click_variables` and `process_variables`. `shortener_project.settings` reads it, and `page` writes
docs/configuration.md from it. `declaration` defines the kinds of variables, `env` parses their text, and `checks`
holds the system checks for combinations of settings. To add a variable, add an entry to `variables` and a line to
`shortener_project.settings`.

`django_settings` builds the longer settings, and `generated` has the values that the service generates if the operator
sets none. `configured_database` has the database settings of this process, `database_timeouts` its time limits, and
`embedded_database` the PostgreSQL that comes with the service.
"""
