"""Running the service: `supervisor` keeps its processes alive, `preparation` makes the database ready.

`service_processes` lists the processes, `child` is one of them, and `listeners` has the sockets on which they listen.
`preloading` imports what they share, `open_files` raises the limit of open files, and `migrating` runs migrations in a
fork. `pending` finds what the database lacks.
"""
