"""How gunicorn serves this project. `manage.py serve` starts it; it can also be started by hand:

gunicorn --config shortener_project/gunicorn_conf.py shortener_project.wsgi
"""

import gc
import os
from importlib import import_module
from pathlib import Path
from typing import Any

# Bounds what one hostile or unlucky request can cost the database; read by the settings, so set before them.
os.environ.setdefault("STATEMENT_TIMEOUT_MS", "2000")

from common import metric_files
from common.versions import slots
from redirects.handover import handover
from shortener_project import settings

# Read when the apps are loaded. Where it is set, `manage.py serve` has prepared the folder.
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    metric_files.prepare(settings.METRICS_DIR)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIR)

# The worker class stands on the apps.
import_module("shortener_project.wsgi")

bind = os.environ.get("SERVE_BIND") or f"{settings.HOST}:{settings.PORT}"
backlog = 2048

workers = settings.WEB_CONCURRENCY + settings.API_CONCURRENCY
worker_class = "redirects.worker.Worker"
threads = 4
# The rule tables of agents and countries are read once and shared by all workers.
preload_app = True
# Browsers and proxies keep connections; closing them after gunicorn's two seconds would cost them a handshake.
keepalive = 75
timeout = 30
graceful_timeout = 20
if Path("/dev/shm").is_dir():  # noqa: S108 # gunicorn makes a file of its own there; heartbeats never touch a disk
    worker_tmp_dir = "/dev/shm"  # noqa: S108 # as above

# The address and scheme that a proxy reports are believed from these peers only.
forwarded_allow_ips = ",".join(str(network) for network in settings.TRUSTED_PROXIES)
# gunicorn would let these peers rewrite the path, too.
forwarder_headers = ""
limit_request_line = 8190

# A control socket per account would be shared, and deleted, by every instance of that account.
control_socket_disable = True
# A stray copy of the C parser must not change what is accepted.
http_parser = "python"

accesslog = None
logconfig_dict = {
    **settings.LOGGING,
    "loggers": {
        **settings.LOGGING["loggers"],
        "gunicorn.error": {"level": settings.LOG_LEVEL, "handlers": ["stderr"], "propagate": False},
    },
}


def pre_fork(server: Any, worker: Any) -> None:
    """Gives the new worker the role that the youngest ones lack: of one that died, or, on a reload, of the oldest."""
    if settings.API_CONCURRENCY:
        others = (
            sorted(server.WORKERS.values(), key=lambda other: other.age)[1 - workers :] if workers > 1 else []
        )
        redirecting = sum(other.role == "redirect" for other in others)
        worker.role = "redirect" if redirecting < settings.WEB_CONCURRENCY else "api"


def when_ready(server: Any) -> None:
    # Before the first fork: what all workers share. Pages of what was loaded stay shared for good when the garbage
    # collector has nothing to note in them.
    handover()
    slots()
    gc.collect()
    gc.freeze()
