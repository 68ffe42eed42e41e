"""Django's settings, as a table. `shortener_project.configuration.variables` declares the environment variables."""

from __future__ import annotations

from collections.abc import MutableMapping
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import shortener_project
from common.secrets import derive_key
from shortener_project.configuration import variables
from shortener_project.configuration.database import configured_database, reports_database
from shortener_project.configuration.env import installation_secret, metrics_folder
from shortener_project.configuration.sign_in import (
    check_provider_options,
    provider_settings,
    sign_in_settings,
)

PROJECT_DIR = Path(__file__).resolve().parent.parent


def _protect_static_file(headers: MutableMapping[str, str], path: str, url: str) -> None:
    """Forbid scripts and subresources in a file that is opened directly: Swagger UI includes a page with a script."""
    headers["Content-Security-Policy"] = (
        "default-src 'none'; sandbox; frame-ancestors 'none'; base-uri 'none'"
    )
    headers["X-Content-Type-Options"] = "nosniff"


# Each variable of the environment is a setting of the same name. Below are those from which others follow.
globals().update(variables.read_all())

VAR_DIR = variables.VAR_DIR.read()
HOST = variables.HOST.read()
PORT = variables.PORT.read()
# A Unix socket, or an address with a port.
LISTEN = HOST if HOST.startswith("/") else f"{HOST}:{PORT}"
INTERNAL_LISTEN, INTERNAL_HOST, INTERNAL_PORT = variables.INTERNAL_LISTEN.read()

_base_url = variables.BASE_URL.read()
BASE_URL = str(_base_url)
SECURITY_CONTACT = variables.SECURITY_CONTACT.read()
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
SECRET_KEY_FALLBACKS: list[str] = variables.SECRET_KEY_FALLBACKS.read()

DATABASES = {"default": configured_database(), **reports_database()}
if len(DATABASES) > 1:
    DATABASE_ROUTERS = ["common.reports_database.Router"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

DEBUG = False
# Any host may be a customer's domain. SystemHostMiddleware decides which paths each host serves.
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "shortener_project.urls"
WSGI_APPLICATION = "shortener_project.wsgi.application"
APPEND_SLASH = False
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
# Pages for people are in the language of their browser. The API is in English.
USE_I18N = True
LOCALE_PATHS = [Path(__file__).with_name("locale")]
LANGUAGES = [(catalogue.name, catalogue.name) for catalogue in sorted(LOCALE_PATHS[0].iterdir())]

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
    "events",
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
    "shortener_project.web.middleware.RequestIdMiddleware",
    "shortener_project.web.middleware.ApiRequestMiddleware",
    "shortener_project.web.middleware.ContentLengthMiddleware",
    "shortener_project.web.middleware.HstsMiddleware",
    "shortener_project.web.middleware.UntrustedProxyMiddleware",
    "shortener_project.web.middleware.InternalListenerMiddleware",
    "shortener_project.web.middleware.SystemHostMiddleware",
    "shortener_project.web.middleware.AdminNetworksMiddleware",
    "shortener_project.web.middleware.CrossOriginMiddleware",
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

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # Before the templates of the admin, whose header it replaces.
        "DIRS": [PROJECT_DIR / "shortener_project" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "sign_in.middleware.page_context",
            ]
        },
    }
]

STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_ADD_HEADERS_FUNCTION = _protect_static_file

AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = ["accounts.password_hashing.Argon2"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]

SENDS_MAIL = bool(variables.EMAIL_URL.read().scheme)
# For all requests of one login together.
OIDC_SECONDS = 5
check_provider_options(
    variables.OIDC_ISSUER.read(),
    OIDC_ALLOWED_DOMAINS=variables.OIDC_ALLOWED_DOMAINS.read(),
    OIDC_CREATE_ACCOUNTS=variables.OIDC_CREATE_ACCOUNTS.read(),
    OIDC_LOGOUT=variables.OIDC_LOGOUT.read(),
    OIDC_STAFF_GROUP=variables.OIDC_STAFF_GROUP.read(),
)
globals().update(
    sign_in_settings(
        mail=variables.EMAIL_URL.read(),
        sender=variables.EMAIL_FROM.read(),
        provider=provider_settings(
            variables.OIDC_ISSUER.read(), variables.OIDC_CLIENT_ID.read(), variables.OIDC_CLIENT_SECRET.read()
        ),
        has_password_login=variables.PASSWORD_LOGIN.read(),
        signup=variables.SIGNUP.read(),
    )
)

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _base_url.is_https
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Only browsers that signed in have the cookie, and only the pages of `PageSessions` read it. Browsers accept a cookie
# with this prefix only from this host over TLS, so that no other host of the domain can plant a session (RFC 6265bis).
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = "/"
_cookie_prefix = "__Host-" if _base_url.is_https else ""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{_cookie_prefix}sessionid", f"{_cookie_prefix}csrftoken"
SESSION_ENGINE = "accounts.sessions.store"
# Without use. Each change of a session extends it.
SESSION_COOKIE_AGE = min(14, variables.BROWSER_SESSION_DAYS.read()) * 24 * 60 * 60
SIGNING_BACKEND = "common.secrets.CurrentKeySigner"
# Forms on the default domain must work even behind a TLS-terminating proxy that is missing from TRUSTED_PROXIES.
CSRF_TRUSTED_ORIGINS = [BASE_URL]
# The API accepts no uploads; discard any file part in memory instead of writing it to disk.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
CSRF_FAILURE_VIEW = "shortener_project.web.views.csrf_failure"
SECURE_HSTS_SECONDS = 31_536_000 if _base_url.is_https else 0
# These checks look for Django's middlewares by name. SecurityMiddleware and XFrameOptionsMiddleware would add headers
# to redirects and API responses, which have only those that they need. HstsMiddleware, AdminPages, PageCsrf,
# common.http.browser_headers and csrf_protect on the password page protect what browsers show; tests check every page.
SILENCED_SYSTEM_CHECKS = ["security.W001", "security.W002", "security.W003"]

# Cross-origin requests authenticate with a header. Cookies are neither sent nor accepted.
_origins = variables.CORS_ALLOWED_ORIGINS.read()
CORS_ALLOW_CREDENTIALS = False
CORS_ALLOW_ALL_ORIGINS = _origins == ["*"]
CORS_ALLOWED_ORIGINS = [] if CORS_ALLOW_ALL_ORIGINS else _origins
CORS_URLS_REGEX = r"^/(api/|mcp$)"
CORS_ALLOW_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
CORS_ALLOW_HEADERS = (
    *("accept", "authorization", "content-type", "idempotency-key"),
    *("if-match", "if-none-match", "prefer", "x-api-key", "x-request-id", "x-workspace"),
    *("mcp-protocol-version", "mcp-method", "mcp-name"),
)
CORS_EXPOSE_HEADERS = (
    *(
        "Data-Lag",
        "Deprecation",
        "ETag",
        "Idempotent-Replayed",
        "Link",
        "Location",
        "Preference-Applied",
        "Retry-After",
        "Sunset",
    ),
    "X-Request-ID",
    *("RateLimit", "RateLimit-Limit", "RateLimit-Policy", "RateLimit-Remaining", "RateLimit-Reset"),
)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.api_requests.authentication.ApiKeyAuthentication",
        "accounts.api_requests.authentication.BearerAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.api_requests.permissions.HasRole"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.api_requests.throttling.RequestThrottle"],
    "DEFAULT_PARSER_CLASSES": ["common.rest.strict_json.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["common.rest.envelope.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "common.rest.envelope.JSONOnly",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "common.rest.envelope.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "TEST_REQUEST_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
}

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
# Links per calendar month; 0: no limit.
LINK_QUOTAS = {
    "free": variables.LINK_QUOTA_FREE.read(),
    "pro": variables.LINK_QUOTA_PRO.read(),
    "enterprise": variables.LINK_QUOTA_ENTERPRISE.read(),
}

# Megabytes; 0: no limit.
STORAGE_LIMITS = {
    "free": variables.STORAGE_MB_FREE.read(),
    "pro": variables.STORAGE_MB_PRO.read(),
    "enterprise": variables.STORAGE_MB_ENTERPRISE.read(),
}

# manage.py update_geodata downloads this file. GEOIP_DATABASE overrides it.
GEODATA_FILE = VAR_DIR / "geodata" / "city.mmdb"

# Shared memory that tells the processes of this host when a link changes.
VERSIONS_FILE = VAR_DIR / "run" / "versions"
# The package may be absent.
FAST_LANE = variables.FAST_LANE.read() == "yes" and find_spec("fastlane") is not None


CLICKS_DIR = VAR_DIR / "clicks"

METRICS_DIR = metrics_folder(variables.PROMETHEUS_MULTIPROC_DIR.read(), secret=SECRET_KEY, var_dir=VAR_DIR)

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "shortener_project.running.logs.TextFormatter"},
        "json": {"()": "shortener_project.running.logs.JSONFormatter"},
    },
    "filters": {
        "redacting": {
            "()": "shortener_project.running.logs.RedactingFilter",
            "addresses": variables.LOG_ADDRESSES.read(),
        },
        "repeated": {"()": "common.repeated_lines.RepeatedLines"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": variables.LOG_FORMAT.read(),
            "filters": ["redacting", "repeated"],
        }
    },
    "root": {"handlers": ["stderr"], "level": variables.LOG_LEVEL.read()},
    "loggers": {
        # A 4xx is the client's error, not an event for the operator; bugs reach this logger as errors.
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "ERROR"},
    },
}

SPECTACULAR_SETTINGS = {
    "TITLE": "URL shortener",
    "DESCRIPTION": (
        f"Short links, their statistics and the credentials to manage them. [A guide]({BASE_URL}/api/docs/guide) "
        f"explains them, and each operation has [samples]({BASE_URL}/api/docs/operations) in curl, Python and "
        "JavaScript.\n\n"
        "Every response is JSON with a `success` flag; every error, whatever its status, is an `Error`, whose `code` "
        f"has [a page]({BASE_URL}/api/docs/errors). With `Accept: application/problem+json`, errors are problem "
        "details (RFC 9457). "
        "Times are ISO 8601 in UTC. Texts must not contain NUL or lone surrogates. "
        "Integers take no fraction or exponent; 5.0 is rejected. "
        "Clients should ignore unknown keys, and judge an error with an unknown `code` by its status.\n\n"
        "Agents call the same as tools, by the Model Context Protocol at `/mcp`."
    ),
    "VERSION": shortener_project.__version__,
    "CONTACT": {"name": "The operator of this service", "url": BASE_URL},
    "LICENSE": {"name": "MIT", "identifier": "MIT"},
    "SERVERS": [{"url": BASE_URL}],
    "OAS_VERSION": "3.1.0",
    "TAGS": [
        {"name": "Authentication", "description": "Tokens and the API key."},
        {"name": "Account", "description": "The own account and its sessions, for people who logged in."},
        {"name": "Links", "description": "Short links."},
        {"name": "Tags", "description": "Tags of short links, changed in all links at once."},
        {"name": "Domains", "description": "Custom domains for short links, verified by DNS."},
        {
            "name": "Analytics",
            "description": "Clicks on short links: when, from where and with which device.",
        },
        {"name": "QR codes", "description": "QR code images for short links."},
        {"name": "Workspaces", "description": "Workspaces of teams, their members and invitations."},
        {
            "name": "Keys",
            "description": "API keys with scopes, for programs that need less than everything.",
        },
        {"name": "Events", "description": "What happened in a workspace, for programs that ask."},
        {"name": "Webhooks", "description": "Events of a workspace, sent to other programs and people."},
        {"name": "History", "description": "Who changed what, and former values."},
    ],
    # Docstrings are for developers; the descriptions in the schema modules are for API clients.
    "DISABLE_DOCSTRING_DESCRIPTIONS": True,
    # Requests and responses differ, above all in their required fields.
    "COMPONENT_SPLIT_REQUEST": True,
    # Every field of a PATCH is optional already.
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SORT_OPERATION_PARAMETERS": False,
    # Not drf-spectacular's hook that names choices: `common.openapi.operations` names them in lists, too.
    "POSTPROCESSING_HOOKS": [
        "events.webhooks.openapi.describe_messages",
        "drf_spectacular.hooks.postprocess_schema_enum_id_removal",
        "common.openapi.document.describe_defaults",
        "common.openapi.document.unwrap_parameters",
        "common.openapi.document.declare_security_of_all",
        "common.openapi.document.link_operations",
        "common.openapi.document.enumerate_codes",
        "common.openapi.samples.add_samples",
        "common.openapi.document.share_headers",
    ],
}
