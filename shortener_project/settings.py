"""Django's settings, as a table. `shortener_project.configuration.variables` declares the environment variables."""

from __future__ import annotations

from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

from common.secrets import derive_key
from shortener_project.configuration import brand_variables, click_variables, process_variables, variables
from shortener_project.configuration.configured_database import configured_database
from shortener_project.configuration.django_settings.cors import cors_settings
from shortener_project.configuration.django_settings.logging import logging_settings
from shortener_project.configuration.django_settings.openapi import openapi_settings
from shortener_project.configuration.django_settings.rest_framework import rest_framework_settings
from shortener_project.configuration.django_settings.sign_in import (
    check_provider_options,
    provider_settings,
    sign_in_settings,
)
from shortener_project.configuration.django_settings.templates import template_settings
from shortener_project.configuration.generated import installation_secret, metrics_folder
from shortener_project.web.static_headers import protect_static_file

PROJECT_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = variables.VAR_DIR.read()
HOST = variables.HOST.read()
PORT = variables.PORT.read()
# A Unix socket, or an address with a port.
LISTEN = HOST if HOST.startswith("/") else f"{HOST}:{PORT}"
INTERNAL_LISTEN, INTERNAL_HOST, INTERNAL_PORT = variables.INTERNAL_LISTEN.read()
API_QUEUE_SECONDS = process_variables.API_QUEUE_SECONDS.read()
SILENCE_SECONDS = process_variables.SILENCE_SECONDS.read()
CONNECTIONS_PER_ADDRESS = process_variables.CONNECTIONS_PER_ADDRESS.read()
WEB_CONCURRENCY = process_variables.WEB_CONCURRENCY.read()
API_CONCURRENCY = process_variables.API_CONCURRENCY.read()

_base_url = variables.BASE_URL.read()
BASE_URL = str(_base_url)
BASE_HOST = _base_url.host
BASE_PORT = _base_url.port
BASE_HOSTS = _base_url.hosts

# In an empty database, `serve` creates an account and writes its password and API key to this file.
FIRST_ACCOUNT_FILE = VAR_DIR / "first_account.txt"
DATABASE_URL = variables.DATABASE_URL.read()
EMBEDDED_DATABASE = not DATABASE_URL
SECRET_KEY = installation_secret(
    variables.SECRET_KEY.read(), has_own_database=bool(DATABASE_URL), var_dir=VAR_DIR
)
SECRET_KEY_FALLBACKS = variables.SECRET_KEY_FALLBACKS.read()

DATABASES = {"default": configured_database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

DEBUG = False
# Any host may be a customer's domain. SystemHostMiddleware decides which paths each host serves.
ALLOWED_HOSTS = ["*"]
TRUSTED_PROXIES = variables.TRUSTED_PROXIES.read()
# Empty: every network can reach the admin.
ADMIN_ALLOWED_NETWORKS = variables.ADMIN_ALLOWED_NETWORKS.read()
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
    # For the list of passkeys.
    "django.contrib.humanize",
    "corsheaders",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    # Before allauth, whose templates it replaces.
    "sign_in",
    "allauth",
    "sign_in.apps.AllauthConfig",
    "allauth.mfa",
    "allauth.socialaccount",
    "limits",
    "accounts",
    "bans",
    "domains",
    "links",
    "analytics",
    "qrcodes",
    "pages",
    "redirects",
    "dashboard",
    "shortener_project",
]

MIDDLEWARE = [
    "shortener_project.web.request_ids.RequestIdMiddleware",
    "shortener_project.web.api_requests.ApiRequestMiddleware",
    "shortener_project.web.middleware.ContentLengthMiddleware",
    "shortener_project.web.middleware.HstsMiddleware",
    "shortener_project.web.forwarding.UntrustedProxyMiddleware",
    "shortener_project.web.internal_middleware.InternalListenerMiddleware",
    "shortener_project.web.middleware.SystemHostMiddleware",
    "shortener_project.web.middleware.AdminNetworksMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    # Only the admin and the pages under /accounts/ use the rest. For an API request or a redirect, sessions, messages
    # and static files would cost more than the request itself.
    "shortener_project.web.middleware.StaticFiles",
    "shortener_project.web.middleware.AdminPages",
    "shortener_project.web.middleware.PageSessions",
    "shortener_project.web.middleware.PageCsrf",
    "shortener_project.web.middleware.PageAuthentication",
    "shortener_project.web.middleware.AdminRequests",
    "shortener_project.web.middleware.PageActor",
    "shortener_project.web.middleware.PageMessages",
    "sign_in.middleware.AccountPages",
]

TEMPLATES = template_settings()

STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_ADD_HEADERS_FUNCTION = protect_static_file

AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = ["accounts.password_hashing.Argon2"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]

SENDS_MAIL = bool(variables.EMAIL_URL.read().scheme)
PASSWORD_LOGIN = variables.PASSWORD_LOGIN.read()
SIGNUP = variables.SIGNUP.read()
OIDC_ISSUER = variables.OIDC_ISSUER.read()
OIDC_CREATE_ACCOUNTS = variables.OIDC_CREATE_ACCOUNTS.read()
OIDC_ALLOWED_DOMAINS = variables.OIDC_ALLOWED_DOMAINS.read()
OIDC_STAFF_GROUP = variables.OIDC_STAFF_GROUP.read()
OIDC_LOGOUT = variables.OIDC_LOGOUT.read()
# For all requests of one login together.
OIDC_SECONDS = 5
REQUIRE_2FA = variables.REQUIRE_2FA.read()
check_provider_options(
    OIDC_ISSUER,
    OIDC_ALLOWED_DOMAINS=OIDC_ALLOWED_DOMAINS,
    OIDC_CREATE_ACCOUNTS=OIDC_CREATE_ACCOUNTS,
    OIDC_LOGOUT=OIDC_LOGOUT,
    OIDC_STAFF_GROUP=OIDC_STAFF_GROUP,
)
globals().update(
    sign_in_settings(
        mail=variables.EMAIL_URL.read(),
        sender=variables.EMAIL_FROM.read(),
        provider=provider_settings(
            OIDC_ISSUER, variables.OIDC_CLIENT_ID.read(), variables.OIDC_CLIENT_SECRET.read()
        ),
        has_password_login=PASSWORD_LOGIN,
        signup=SIGNUP,
    )
)

BRAND_NAME = brand_variables.BRAND_NAME.read()
BRAND_LOGO = brand_variables.BRAND_LOGO.read()
BRAND_COLOR = brand_variables.BRAND_COLOR.read()

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _base_url.is_https
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Only browsers that signed in have the cookie, and only the pages of `PageSessions` read it. Browsers accept a cookie
# with this prefix only from this host over TLS, so that no other host of the domain can plant a session (RFC 6265bis).
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = "/"
_cookie_prefix = "__Host-" if _base_url.is_https else ""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{_cookie_prefix}sessionid", f"{_cookie_prefix}csrftoken"
SESSION_ENGINE = "accounts.sessions.store"
BROWSER_SESSION_DAYS = variables.BROWSER_SESSION_DAYS.read()
# Without use. Each change of a session extends it.
SESSION_COOKIE_AGE = min(14, BROWSER_SESSION_DAYS) * 24 * 60 * 60
SIGNING_BACKEND = "common.secrets.CurrentKeySigner"
# Forms on the default domain must work even behind a TLS-terminating proxy that is missing from TRUSTED_PROXIES.
CSRF_TRUSTED_ORIGINS = [BASE_URL]
# The API accepts no uploads; discard any file part in memory instead of writing it to disk.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
CSRF_FAILURE_VIEW = "shortener_project.web.errors.csrf_failure"
SECURE_HSTS_SECONDS = 31_536_000 if _base_url.is_https else 0
# These checks look for Django's middlewares by name. SecurityMiddleware and XFrameOptionsMiddleware would add headers
# to redirects and API responses, which have only those that they need. HstsMiddleware, AdminPages, PageCsrf,
# common.http.browser_headers and csrf_protect on the password page protect what browsers show; tests check every page.
SILENCED_SYSTEM_CHECKS = ["security.W001", "security.W002", "security.W003"]

globals().update(cors_settings(variables.CORS_ALLOWED_ORIGINS.read()))
REST_FRAMEWORK = rest_framework_settings()

SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": timedelta(minutes=variables.ACCESS_TOKEN_MINUTES.read()),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=variables.REFRESH_TOKEN_DAYS.read()),
    "ALGORITHM": "HS256",
    "SIGNING_KEY": derive_key(SECRET_KEY, "json-web-tokens"),
    "ISSUER": "shortener",
    "AUDIENCE": "shortener-api",
    "USER_ID_FIELD": "public_id",
    "USER_ID_CLAIM": "sub",
    "CHECK_REVOKE_TOKEN": True,
}

# Requests per minute; 0: no limit.
RATE_LIMITS = {
    "free": variables.RATE_LIMIT_FREE.read(),
    "pro": variables.RATE_LIMIT_PRO.read(),
    "enterprise": variables.RATE_LIMIT_ENTERPRISE.read(),
}
RATE_LIMIT_ANONYMOUS = variables.RATE_LIMIT_ANONYMOUS.read()
RATE_LIMIT_PASSWORDS = variables.RATE_LIMIT_PASSWORDS.read()
IDEMPOTENCY_MB = variables.IDEMPOTENCY_MB.read()
UNKNOWN_CODE_LIMIT = variables.UNKNOWN_CODE_LIMIT.read()
# Links per calendar month; 0: no limit.
LINK_QUOTAS = {
    "free": variables.LINK_QUOTA_FREE.read(),
    "pro": variables.LINK_QUOTA_PRO.read(),
    "enterprise": variables.LINK_QUOTA_ENTERPRISE.read(),
}

DOMAINS_PER_ACCOUNT = variables.DOMAINS_PER_ACCOUNT.read()
QR_CODES_PER_ACCOUNT = variables.QR_CODES_PER_ACCOUNT.read()
WORKSPACES_PER_ACCOUNT = variables.WORKSPACES_PER_ACCOUNT.read()
WORKSPACES_PER_DAY = variables.WORKSPACES_PER_DAY.read()
# Megabytes; 0: no limit.
STORAGE_LIMITS = {
    "free": variables.STORAGE_MB_FREE.read(),
    "pro": variables.STORAGE_MB_PRO.read(),
    "enterprise": variables.STORAGE_MB_ENTERPRISE.read(),
}
# In addition to the reserved words in links.codes. Compared in lower case.
RESERVED_CODES = variables.RESERVED_CODES.read()

# Empty: the system's resolvers.
DNS_RESOLVERS = variables.DNS_RESOLVERS.read()
EDGE_ADDRESSES = variables.EDGE_ADDRESSES.read()

GEOIP_DATABASE = click_variables.GEOIP_DATABASE.read()
# manage.py update_geodata downloads this file. GEOIP_DATABASE overrides it.
GEODATA_FILE = VAR_DIR / "geodata" / "city.mmdb"
GEODATA_URL = click_variables.GEODATA_URL.read()

# Shared memory that tells the processes of this host when a link changes.
VERSIONS_FILE = VAR_DIR / "run" / "versions"
DESTINATIONS_KEPT = process_variables.DESTINATIONS_KEPT.read()
DESTINATIONS_MB = process_variables.DESTINATIONS_MB.read()
# The package may be absent.
FAST_LANE = process_variables.FAST_LANE.read() == "yes" and find_spec("fastlane") is not None
COMPILED_LOOP = process_variables.COMPILED_LOOP.read()

# While the database is unreachable, this host serves cached links for this long after its last contact.
STALE_SECONDS = process_variables.STALE_SECONDS.read()

CLICKS_DIR = VAR_DIR / "clicks"
CLICK_SYNC = click_variables.CLICK_SYNC.read()
CLICK_BACKLOG_MB = click_variables.CLICK_BACKLOG_MB.read()
HISTORY_DAYS = variables.HISTORY_DAYS.read()
HISTORY_MB = variables.HISTORY_MB.read()
CLICK_RETENTION_DAYS = click_variables.CLICK_RETENTION_DAYS.read()

METRICS_ALLOWED_NETWORKS = variables.METRICS_ALLOWED_NETWORKS.read()
METRICS_DIR = metrics_folder(variables.PROMETHEUS_MULTIPROC_DIR.read(), secret=SECRET_KEY, var_dir=VAR_DIR)

LOG_LEVEL = variables.LOG_LEVEL.read()
LOG_FORMAT = variables.LOG_FORMAT.read()
LOG_ADDRESSES = variables.LOG_ADDRESSES.read()
LOGGING = logging_settings(level=LOG_LEVEL, form=LOG_FORMAT, addresses=LOG_ADDRESSES)

SPECTACULAR_SETTINGS = openapi_settings(server=BASE_URL)
