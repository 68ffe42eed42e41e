"""Running the service: `supervisor` keeps its processes alive, `preparation` makes the database ready.

`service_processes` lists the processes, `listeners` has the sockets on which they listen, and `preloading` imports
what they share. `commands` runs a command in a fork, and `schema` finds what the database has and lacks. gunicorn's
configuration imports `gunicorn_main`, which must not import the metrics. `health_check` is a program of the image.
"""
