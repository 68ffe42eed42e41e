"""The embedded PostgreSQL of this installation, sized for its processes and its memory."""

from __future__ import annotations

from local_postgres import EmbeddedPostgres
from local_postgres.sizing import settings_for
from shortener_project.configuration import process_variables, variables

# Each thread of a worker keeps a connection. A redirect worker has a fifth thread for claims of clicks, and an API
# worker one for probes. Without API workers, a redirect worker has both.
_PER_WORKER = 5
# The process that loads links when redirect workers start.
_LOADER = 1
# Background processes, commands that run beside the service, and connections that PostgreSQL reserves for superusers.
_OTHERS = 20
_USUAL_CONNECTIONS = 100


def embedded_database() -> EmbeddedPostgres:
    """Raises ImproperlyConfigured."""
    redirect_workers = process_variables.WEB_CONCURRENCY.read()
    api_workers = process_variables.API_CONCURRENCY.read()
    probes = 0 if api_workers else redirect_workers
    connections = _PER_WORKER * (redirect_workers + api_workers) + probes + _LOADER + _OTHERS
    if not process_variables.SMALL.read():
        connections = max(connections, _USUAL_CONNECTIONS)
    options = {**settings_for(process_variables.memory_mb()), "max_connections": str(connections)}
    return EmbeddedPostgres(variables.VAR_DIR.read(), options=options)
