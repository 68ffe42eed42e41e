"""Settings, all from the environment; the README's table is the reference.

Everything has a default that serves on this machine alone, except that a database of the operator's own
(``DATABASE_URL``) asks for a ``SECRET_KEY`` of its own too.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from common.hosts import LOOPBACK_HOSTS, canonical_host
from common.secrets import derive_key
from shortener_project import env
from shortener_project.database_settings import database_settings
from shortener_project.embedded_postgres import EmbeddedPostgres
from shortener_project.logging_settings import logging_settings
from shortener_project.openapi_settings import openapi_settings
from shortener_project.static_headers import protect_static_file

PROJECT_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.text("VAR_DIR", "var")).resolve()
HOST = env.text("HOST", "127.0.0.1")
PORT = env.integer("PORT", 8000, minimum=1, maximum=65535)
_cores = min(os.cpu_count() or 1, 16)
# Processes that follow links, and processes that do everything else; none of the latter: the former do both.
WEB_CONCURRENCY = env.integer("WEB_CONCURRENCY", _cores, minimum=1, maximum=256)
API_CONCURRENCY = env.integer("API_CONCURRENCY", _cores, maximum=256)

BASE_URL = env.text("BASE_URL", f"http://127.0.0.1:{PORT}").rstrip("/")
try:
    _base = urlsplit(BASE_URL)
    BASE_HOST = canonical_host(_base.netloc) or ""
    BASE_PORT = _base.port or (443 if _base.scheme == "https" else 80)
    if (
        _base.scheme not in ("http", "https")
        or not BASE_HOST
        or _base.geturl() != f"{_base.scheme}://{_base.netloc}"
    ):
        raise ValueError
except ValueError:
    raise ImproperlyConfigured(f"BASE_URL must look like https://go.example.com, not {BASE_URL!r}.") from None
# As a browser writes it in an Origin header: lower case, and no port that goes without saying.
_default_port = {"http": 80, "https": 443}[_base.scheme]
BASE_URL = f"{_base.scheme}://{BASE_HOST}" + ("" if _default_port == BASE_PORT else f":{BASE_PORT}")
# A service on this machine's own address answers to each of the machine's names for itself.
BASE_HOSTS = LOOPBACK_HOSTS if BASE_HOST in LOOPBACK_HOSTS else frozenset({BASE_HOST})

DATABASE_URL = env.text("DATABASE_URL")
EMBEDDED_DATABASE = not DATABASE_URL
SECRET_KEY = env.text("SECRET_KEY")
if not SECRET_KEY:
    if DATABASE_URL:
        raise ImproperlyConfigured(
            "DATABASE_URL is set, so SECRET_KEY must be set too (50 random characters, the same on every host)."
        )
    SECRET_KEY = env.secret_kept_at(VAR_DIR / "secret_key")
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")

DATABASES = {
    "default": database_settings(
        DATABASE_URL or EmbeddedPostgres(VAR_DIR).url,
        # gunicorn_conf sets it for requests; migrations and other commands take the time they need.
        statement_timeout=env.integer("STATEMENT_TIMEOUT_MS", 0),
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

DEBUG = False
# Any host may be a customer's domain; what is served on which is decided by shortener_project.middleware.
ALLOWED_HOSTS = ["*"]
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
# Empty: the admin answers everywhere.
ADMIN_ALLOWED_NETWORKS = env.networks("ADMIN_ALLOWED_NETWORKS")
ROOT_URLCONF = "shortener_project.urls"
WSGI_APPLICATION = "shortener_project.wsgi.application"
APPEND_SLASH = False
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False

INSTALLED_APPS = [
    "shortener_project.apps.OperatorsAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "corsheaders",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "accounts",
    "domains",
    "links",
    "analytics",
    "qrcodes",
    "redirects",
    "shortener_project",
]

MIDDLEWARE = [
    "shortener_project.api_requests.ApiRequestMiddleware",
    "shortener_project.middleware.ContentLengthMiddleware",
    "shortener_project.middleware.HstsMiddleware",
    "shortener_project.middleware.SystemHostMiddleware",
    "shortener_project.middleware.AdminNetworksMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    # The rest serves the admin alone: sessions, messages and static files have no business on the API or a
    # redirect, where they would cost more than the work itself.
    "shortener_project.middleware.AdminStaticFiles",
    "shortener_project.middleware.AdminPages",
    "shortener_project.middleware.AdminSessions",
    "shortener_project.middleware.AdminCsrf",
    "shortener_project.middleware.AdminAuthentication",
    "shortener_project.middleware.AdminMessages",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_ADD_HEADERS_FUNCTION = protect_static_file

AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = ["accounts.hashers.Argon2"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]

_over_tls = _base.scheme == "https"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _over_tls
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Sessions are the admin's alone: a visit to a link does not carry one.
SESSION_COOKIE_PATH = "/admin/"
SESSION_ENGINE = "accounts.sessions"
# The default domain's forms work even behind a proxy that ends TLS and is not named in TRUSTED_PROXIES.
CSRF_TRUSTED_ORIGINS = [BASE_URL]
# Nobody has a file to send; what is sent all the same is dropped, not written to a disk.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
CSRF_FAILURE_VIEW = "shortener_project.errors.csrf_failure"
SECURE_HSTS_SECONDS = 31_536_000 if _over_tls else 0
SILENCED_SYSTEM_CHECKS = [
    # Django's own middlewares for headers and forged forms are not in the chain by their names: what they would add is
    # added where it belongs (HstsMiddleware, AdminPages, common.browser_headers, AdminCsrf, csrf_protect on the
    # password page), and tests ask every page for it.
    "security.W001",
    "security.W002",
    "security.W003",
]

# An origin may read what its own credential, in a header, opens; cookies are neither sent nor taken from elsewhere.
CORS_ALLOW_CREDENTIALS = False
CORS_ALLOWED_ORIGINS = env.origins("CORS_ALLOWED_ORIGINS")
CORS_ALLOW_ALL_ORIGINS = CORS_ALLOWED_ORIGINS == ["*"]
if CORS_ALLOW_ALL_ORIGINS:
    CORS_ALLOWED_ORIGINS = []
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
CORS_ALLOW_HEADERS = (
    *(
        "accept",
        "authorization",
        "content-type",
        "idempotency-key",
        "if-none-match",
        "x-api-key",
        "x-request-id",
    ),
)
CORS_EXPOSE_HEADERS = (
    *("ETag", "Idempotent-Replayed", "Retry-After", "X-Request-ID"),
    *("RateLimit", "RateLimit-Limit", "RateLimit-Policy", "RateLimit-Remaining", "RateLimit-Reset"),
)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.ApiKeyAuthentication",
        "accounts.authentication.BearerAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.throttling.RequestThrottle"],
    "DEFAULT_PARSER_CLASSES": ["common.strict_json.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["common.envelope.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "common.envelope.JSONOnly",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "common.envelope.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "TEST_REQUEST_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
}

SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": timedelta(minutes=env.integer("ACCESS_TOKEN_MINUTES", 60, minimum=1)),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=env.integer("REFRESH_TOKEN_DAYS", 30, minimum=1)),
    "ALGORITHM": "HS256",
    "SIGNING_KEY": derive_key(SECRET_KEY, "json-web-tokens"),
    "ISSUER": "shortener",
    "AUDIENCE": "shortener-api",
    "USER_ID_FIELD": "public_id",
    "USER_ID_CLAIM": "sub",
    "CHECK_REVOKE_TOKEN": True,
}

# Of a minute; 0: no limit.
RATE_LIMITS = {
    "free": env.integer("RATE_LIMIT_FREE", 600),
    "pro": env.integer("RATE_LIMIT_PRO", 3_000),
    "enterprise": env.integer("RATE_LIMIT_ENTERPRISE", 12_000),
}
RATE_LIMIT_ANONYMOUS = env.integer("RATE_LIMIT_ANONYMOUS", 300)
UNKNOWN_CODE_LIMIT = env.integer("UNKNOWN_CODE_LIMIT", 60, maximum=1_000)
# Of a calendar month; 0: any number.
LINK_QUOTAS = {
    "free": env.integer("LINK_QUOTA_FREE", 0),
    "pro": env.integer("LINK_QUOTA_PRO", 0),
    "enterprise": env.integer("LINK_QUOTA_ENTERPRISE", 0),
}

# Empty: those of the system.
DNS_RESOLVERS = env.sockets("DNS_RESOLVERS", port=53)
EDGE_ADDRESSES = env.addresses("EDGE_ADDRESSES")

GEOIP_DATABASE = [Path(word) for word in env.words("GEOIP_DATABASE")]
# What manage.py update_geodata fetches, and what is used when no other file is named.
GEODATA_FILE = VAR_DIR / "geodata" / "city.mmdb"
GEODATA_URL = env.monthly_address(
    "GEODATA_URL", "https://download.db-ip.com/free/dbip-city-lite-{year}-{month:02}.mmdb.gz"
)

# What tells the processes of this host that a link has changed.
VERSIONS_FILE = VAR_DIR / "run" / "versions"
DESTINATIONS_KEPT = env.integer("DESTINATIONS_KEPT", 250_000, minimum=100)
DESTINATIONS_MB = env.integer("DESTINATIONS_MB", 256, minimum=1)

CLICKS_DIR = VAR_DIR / "clicks"
CLICK_SYNC = env.choice("CLICK_SYNC", ("group", "process", "strict"))
CLICK_BACKLOG_MB = env.integer("CLICK_BACKLOG_MB", 1024, minimum=1)
CLICK_RETENTION_DAYS = env.integer("CLICK_RETENTION_DAYS", 0)

METRICS_ALLOWED_NETWORKS = env.networks("METRICS_ALLOWED_NETWORKS", "127.0.0.0/8, ::1")
# What the processes of this installation count together. In memory: a full or busy disk must not hold them up.
_metrics_name = f"shortener-{derive_key(SECRET_KEY, f'metrics {os.geteuid()} {VAR_DIR}').hex()[:20]}"
_memory = "/dev/shm"  # noqa: S108 # nobody can know the folder's name before it is ours
METRICS_DIR = Path(
    env.text(
        "PROMETHEUS_MULTIPROC_DIR",
        f"{_memory}/{_metrics_name}" if os.access(_memory, os.W_OK) else f"{VAR_DIR}/metrics",
    )
)

LOG_LEVEL = env.choice("LOG_LEVEL", ("INFO", "DEBUG", "WARNING", "ERROR"))
LOG_FORMAT = env.choice("LOG_FORMAT", ("text", "json"))
LOG_ADDRESSES = env.choice("LOG_ADDRESSES", ("no", "yes")) == "yes"
LOGGING = logging_settings(level=LOG_LEVEL, form=LOG_FORMAT, addresses=LOG_ADDRESSES)

SPECTACULAR_SETTINGS = openapi_settings(server=BASE_URL)
