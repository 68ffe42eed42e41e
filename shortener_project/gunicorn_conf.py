"""Gunicorn's configuration. `manage.py serve` starts gunicorn; you can also start it by hand:

gunicorn --config shortener_project/gunicorn_conf.py shortener_project.wsgi
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from shortener_project.configuration.database import REQUESTS

# Before importing the settings, which read them.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shortener_project.settings")
os.environ.setdefault("STATEMENT_TIMEOUT_MS", REQUESTS.statement)
os.environ.setdefault("IDLE_TRANSACTION_TIMEOUT_MS", REQUESTS.idle_transaction)

from django.conf import settings

from analytics.visitors.useragent import build_rules
from common.host import metric_files, state
from common.host.cache_versions import counters
from common.host.processes import rename
from common.http.urls import MAX_LINE
from links.guess_counts import guesses
from shortener_project.running.gunicorn_main import watch
from shortener_project.running.listeners import BACKLOG, connections_within, raise_limit
from shortener_project.running.preloading import freeze

# The apps read this variable when they load. If it is set, `manage.py serve` has prepared the folder.
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    metric_files.prepare(settings.METRICS_DIR)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIR)

# The worker class needs the loaded apps.
import_module("shortener_project.wsgi")
build_rules()

if settings.FAST_LANE:
    from fastlane import door

listeners = (settings.LISTEN, settings.INTERNAL_LISTEN)
bind = os.environ.get(
    "SERVE_BIND", ",".join(f"unix:{name}" if name.startswith("/") else name for name in listeners)
).split(",")
# Only this account can access Unix sockets that gunicorn creates.
umask = 0o177
backlog = BACKLOG
worker_connections = connections_within(raise_limit())

workers = settings.WEB_CONCURRENCY + settings.API_CONCURRENCY
worker_class = door.WORKER_CLASS if settings.FAST_LANE else "gthread"
threads = 4
# Load the rule tables for user agents and countries once, and share them among all workers.
preload_app = True
# Browsers and proxies reuse connections. Gunicorn's default of two seconds would force extra handshakes.
keepalive = 75
timeout = 30
graceful_timeout = 20
if Path("/dev/shm").is_dir():  # noqa: S108 # gunicorn makes a file of its own there; heartbeats never touch a disk
    worker_tmp_dir = "/dev/shm"  # noqa: S108 # as above

# Trust the address and scheme only from these peers.
forwarded_allow_ips = ",".join(str(network) for network in settings.TRUSTED_PROXIES)
# By default, gunicorn also lets these peers rewrite the path.
forwarder_headers = ""
limit_request_line = limit_request_field_size = MAX_LINE

# All instances that run as one account would share, and delete, the same control socket.
control_socket_disable = True
# An installed C parser must not change which requests are accepted.
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
    if settings.FAST_LANE:
        door.assign_role(server, worker)


def post_fork(server: Any, worker: Any) -> None:
    if settings.FAST_LANE:
        door.name_process(worker)
    else:
        rename("worker")
    # Only workers log requests for owners: neither tests nor commands.
    import_module("accounts.request_log.recorder").enable()


def worker_exit(server: Any, worker: Any) -> None:
    if settings.RECORDS_SPANS:
        import_module("shortener_project.web.spans").flush()


def when_ready(server: Any) -> None:
    # `manage.py serve` owns the sockets, so gunicorn must not delete them. It has this rule for systemd's sockets.
    server.systemd = "SERVE_BIND" in os.environ
    watch(server)
    # Before the first fork, create what all workers share.
    if settings.FAST_LANE:
        door.prepare()
    counters()
    guesses()
    state.mapped()
    if "SERVE_BIND" not in os.environ:
        state.set_prepared(True)
    freeze()
