"""Loaded before Django's settings are: points them at a throw-away database and a throw-away VAR_DIR."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from shortener_project.embedded_postgres import EmbeddedPostgres
from tests.limits import LIMITS_OFF

# What the shell of the developer says must not decide what the tests say.
for name in (
    *("BASE_URL", "HOST", "PORT", "TRUSTED_PROXIES", "GEOIP_DATABASE", "GEODATA_URL", "CORS_ALLOWED_ORIGINS"),
    *("LOG_FORMAT", "LOG_LEVEL", "CLICK_SYNC", "ACCESS_TOKEN_MINUTES", "REFRESH_TOKEN_DAYS"),
    *("SECRET_KEY", "SECRET_KEY_FALLBACKS", "STATEMENT_TIMEOUT_MS", "WEB_CONCURRENCY"),
    *("LOG_ADDRESSES", "METRICS_ALLOWED_NETWORKS", "PROMETHEUS_MULTIPROC_DIR"),
    *("DNS_RESOLVERS", "EDGE_ADDRESSES", "ADMIN_ALLOWED_NETWORKS"),
    *("LINK_QUOTA_FREE", "LINK_QUOTA_PRO", "LINK_QUOTA_ENTERPRISE"),
):
    os.environ.pop(name, None)
os.environ |= LIMITS_OFF

VAR_DIR = Path(tempfile.mkdtemp(prefix="shortener-tests-"))
# A server that drops privileges must reach its data.
VAR_DIR.chmod(0o755)
os.environ["VAR_DIR"] = str(VAR_DIR)
os.environ["BASE_URL"] = "http://sho.rt"
os.environ["SECRET_KEY"] = "only-for-tests-" + "x" * 50

if "DATABASE_URL" not in os.environ:
    server = EmbeddedPostgres(VAR_DIR, options={"fsync": "off", "max_connections": "200"})
    lease = server.acquire()
    os.environ["DATABASE_URL"] = server.url
    atexit.register(shutil.rmtree, VAR_DIR, ignore_errors=True)
    atexit.register(lease.release)
else:
    atexit.register(shutil.rmtree, VAR_DIR, ignore_errors=True)
