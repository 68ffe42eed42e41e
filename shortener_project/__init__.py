"""The composition root: settings, routes and processes. No other package imports it.

`configuration` reads the environment, `web` surrounds the views, `admin_site` is the admin, and `running`
keeps the processes alive. Gunicorn loads `gunicorn_conf` and `wsgi`.
"""

__version__ = "1.0.0"
