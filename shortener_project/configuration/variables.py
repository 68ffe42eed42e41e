"""The environment variables that the service reads. Each is a setting of the same name.

docs/configuration.md is generated from them, in the order of `GROUPS`.
"""

from __future__ import annotations

import os
from typing import Any

from local_postgres.sizing import available_mb
from shortener_project.configuration.declaration import Group
from shortener_project.configuration.env import MAX_BRAND_NAME

SMALL_MB = 512
_OWN_DATABASE = "generated and stored under `VAR_DIR`; required with `DATABASE_URL`"

addresses = Group("Addresses and files")
HOST = addresses.host(
    "HOST",
    "127.0.0.1",
    "Address to listen on, or a Unix socket for a proxy on the same machine. Outside `VAR_DIR`, the group of this "
    "account can also use the socket. The service trusts the headers of its clients if `TRUSTED_PROXIES` is set.",
)
PORT = addresses.integer("PORT", 8000, "Port to listen on.", minimum=1, maximum=65535)
BASE_URL = addresses.base_url(
    "BASE_URL",
    # Browsers allow passkeys on no IP address.
    lambda: f"http://localhost:{PORT.read()}",
    "Public URL of the default domain. Every `shortUrl` starts with it.",
    shown="http://localhost:$PORT",
)
SECURITY_CONTACT = addresses.contact(
    "SECURITY_CONTACT",
    "Where to report a vulnerability; shown at `/.well-known/security.txt`.",
)
VAR_DIR = addresses.folder("VAR_DIR", "var", "Folder for everything written at run time.")
INTERNAL_LISTEN = addresses.listener(
    "INTERNAL_LISTEN",
    lambda: str(VAR_DIR.read() / "run" / "internal.sock"),
    "Where `/metrics`, `/internal` and the parts of `/readyz` are served: an address with a port, or a Unix socket "
    "for this account and, outside `VAR_DIR`, its group.",
    used_port=PORT,
    used_host=HOST,
    shown="`$VAR_DIR/run/internal.sock`",
)
VENV = addresses.text("VENV", ".venv", "Virtual environment that `make` creates and uses.", values="path")

database = Group("Database and secrets")
DATABASE_URL = database.text(
    "DATABASE_URL",
    "",
    "PostgreSQL 15 or newer. Without it the service runs an embedded PostgreSQL with its data under `VAR_DIR`.",
    values="postgres:// URL",
    shown="embedded PostgreSQL",
)
REPORTS_DATABASE_URL = database.text(
    "REPORTS_DATABASE_URL",
    "",
    "Standbys of this database, which answer reports, lists and exports.",
    values="postgres:// URL",
    shown="the primary",
)
REPORTS_MAX_LAG_SECONDS = database.integer(
    "REPORTS_MAX_LAG_SECONDS",
    1,
    "Longest lag of a standby that answers them. Your own changes are never missing.",
    minimum=1,
    # `links.standby_reads` looks back for changes of the last five minutes.
    maximum=240,
)
REQUIRE_SYNCHRONOUS = database.flag(
    "REQUIRE_SYNCHRONOUS",
    "Whether to refuse changes while PostgreSQL confirms commits without a synchronous standby.",
)
SECRET_KEY = database.text(
    "SECRET_KEY",
    "",
    "Secret of the installation, the same on every host. It signs tokens and cookies and seals API keys "
    "and second factors.",
    values="50 random characters, at least 32",
    shown=_OWN_DATABASE,
)
SECRET_KEY_FALLBACKS = database.words(
    "SECRET_KEY_FALLBACKS",
    "Former secrets: API keys and second factors sealed with them stay readable ([when to remove "
    "one](security-model.md#keys)).",
    values="secrets",
)
# `database.set_command_timeouts` sets the defaults of this variable and the next two for each kind of process.
STATEMENT_TIMEOUT_MS = database.integer(
    "STATEMENT_TIMEOUT_MS",
    0,
    "Longest time in milliseconds that one SQL statement may run; 0: no limit.",
    shown="2000 in requests, 60000 in background processes, 600000 in housekeeping, 0 in other commands",
)
IDLE_TRANSACTION_TIMEOUT_MS = database.integer(
    "IDLE_TRANSACTION_TIMEOUT_MS",
    60_000,
    "Longest time in milliseconds that a transaction may wait for its client; 0: no limit.",
    shown="10000 in requests and commands, 60000 in migrations",
)
LOCK_TIMEOUT_MS = database.integer(
    "LOCK_TIMEOUT_MS",
    0,
    "Longest time in milliseconds that a statement waits for a lock; 0: no limit.",
    shown="0, 2000 in background processes, 10000 in other commands",
)

proxies = Group("Proxies, networks and browsers")
TRUSTED_PROXIES = proxies.networks(
    "TRUSTED_PROXIES",
    "",
    "Proxies whose `X-Forwarded-For`, `X-Forwarded-Proto`, `X-Request-ID` and `traceparent` headers the service "
    "trusts.",
    shown="none",
)
ADMIN_ALLOWED_NETWORKS = proxies.networks(
    "ADMIN_ALLOWED_NETWORKS",
    "",
    "Clients that can reach `/admin/`; all others get 404.",
    shown="everyone",
)
METRICS_ALLOWED_NETWORKS = proxies.networks(
    "METRICS_ALLOWED_NETWORKS",
    "127.0.0.0/8, ::1",
    "Clients that can read `/metrics`, connecting directly and not through a proxy; all others get 404.",
)
CORS_ALLOWED_ORIGINS = proxies.origins(
    "CORS_ALLOWED_ORIGINS",
    "Browser front ends that can call the API. `*` allows every origin: credentials travel in headers, never in "
    "cookies.",
)

processes = Group("Processes and memory")
SMALL = processes.flag(
    "SMALL",
    "Whether to size workers, caches and the embedded PostgreSQL for one processor and 512 MB of memory.",
)


def memory_mb() -> int:
    """The memory for which the service sizes itself: of the machine, or of its container or unit if that has less."""
    return min(available_mb(), SMALL_MB) if SMALL.read() else available_mb()


def _one_per_processor() -> int:
    return 1 if SMALL.read() else min(os.cpu_count() or 1, 16)


WEB_CONCURRENCY = processes.integer(
    "WEB_CONCURRENCY",
    _one_per_processor,
    "Processes that serve redirects. Each has four threads and up to four database connections.",
    minimum=1,
    maximum=256,
    shown="one per processor, at most 16",
)
API_CONCURRENCY = processes.integer(
    "API_CONCURRENCY",
    _one_per_processor,
    "Processes that serve everything else, with as many threads and one more for `/readyz` and the internal listener. "
    "0: the redirect processes serve everything.",
    maximum=256,
    shown="one per processor, at most 16",
)
DESTINATIONS_KEPT = processes.integer(
    "DESTINATIONS_KEPT", 250_000, "Links that each process caches in memory, at most.", minimum=100
)
API_QUEUE_SECONDS = processes.integer(
    "API_QUEUE_SECONDS",
    10,
    "Longest time in seconds that a request waits for a thread; it then gets 503 with `Retry-After`.",
    minimum=1,
)
SILENCE_SECONDS = processes.integer(
    "SILENCE_SECONDS",
    60,
    "Restart a process without a sign of life for so many seconds beyond the time limit of its SQL statements.",
    minimum=5,
)
CONNECTIONS_PER_ADDRESS = processes.integer(
    "CONNECTIONS_PER_ADDRESS",
    1_000,
    "Open connections of one client address (IPv6: one /64) in one process, proxies excepted; 0: no limit.",
)
DESTINATIONS_MB = processes.integer(
    "DESTINATIONS_MB",
    lambda: max(16, min(memory_mb() // 16, 256)),
    "Memory in MB for the cached links of each process, at most.",
    minimum=1,
    shown="256, or a sixteenth of the memory if that is less",
)
FAST_LANE = processes.choice(
    "FAST_LANE",
    ("yes", "no"),
    "`yes`: serve most redirects in an event loop, without Django. `no`: all by gunicorn's `gthread` workers.",
)
COMPILED_LOOP = processes.choice(
    "COMPILED_LOOP",
    ("auto", "off"),
    "`auto`: serve known links with the compiled loop if it is installed (`make accelerate`). `off`: never.",
)
STALE_SECONDS = processes.integer(
    "STALE_SECONDS",
    3_600,
    "Seconds from the last contact with the database for which this host follows links that it knows, or from an "
    "earlier loss of contact if it has not read the link again since.",
)

clicks = Group("Clicks and locations")
CLICK_SYNC = clicks.choice(
    "CLICK_SYNC",
    ("group", "process", "strict"),
    "When a recorded click is on disk. `group`: within 50 ms. `strict`: before the response. `process`: when the "
    "operating system writes it; only an operating system crash or power failure can lose it.",
)
CLICK_MIRROR = clicks.optional_folder(
    "CLICK_MIRROR",
    "A folder that exists on another disk or NFS, of this host alone, to which each click is written before the "
    "response, too. `CLICK_SYNC` holds for both.",
)
CLICK_BACKLOG_MB = clicks.integer(
    "CLICK_BACKLOG_MB",
    1024,
    "`/readyz` returns 503 while more MB than this wait in the host's journal.",
    minimum=1,
)
CLICK_RETENTION_DAYS = clicks.integer(
    "CLICK_RETENTION_DAYS",
    0,
    "Days to keep raw clicks, at least: whole months are deleted at once, roll-ups never. 0: keep them forever.",
)
GEOIP_DATABASE = clicks.files(
    "GEOIP_DATABASE",
    "Files that map addresses to cities, nested or flat. Countries work without any.",
    values="mmdb files",
    shown="the file from `manage.py update_geodata`",
)
GEODATA_URL = clicks.monthly_address(
    "GEODATA_URL",
    "https://download.db-ip.com/free/dbip-city-lite-{year}-{month:02}.mmdb.gz",
    "Source of `manage.py update_geodata`: an mmdb file, gzipped or not, without a redirect. `{year}` and "
    "`{month:02}` are replaced.",
    shown="DB-IP City Lite",
)

domains = Group("Custom domains")
DNS_RESOLVERS = domains.sockets(
    "DNS_RESOLVERS",
    "Resolvers that verify customers' domains and find the hosts of requests.",
    port=53,
    shown="the system's",
)
EDGE_ADDRESSES = domains.addresses(
    "EDGE_ADDRESSES",
    "Public IP addresses of this service. An apex domain, which cannot have a CNAME, must resolve to one of them.",
)

outbound = Group("Requests to other hosts")
OUTBOUND = outbound.switch(
    "OUTBOUND",
    "Whether the service sends requests to addresses that its users enter: checks of destinations and webhooks. "
    "Set it alike on all hosts.",
)
OUTBOUND_ALLOWED_NETWORKS = outbound.networks(
    "OUTBOUND_ALLOWED_NETWORKS",
    "",
    "Networks that are not public but that these requests may reach.",
    shown="none",
)
OUTBOUND_PLAIN_HTTP = outbound.flag(
    "OUTBOUND_PLAIN_HTTP",
    "Whether webhooks may have `http` addresses. Everybody on the way can read and change them.",
)
OUTBOUND_CONTACT = outbound.text(
    "OUTBOUND_CONTACT",
    lambda: str(BASE_URL.read()),
    "Contact in the user agent, for owners of hosts that are called.",
    values="URL or e-mail address",
    shown="`BASE_URL`",
)

sign_in = Group("Sign-in and mail")
EMAIL_URL = sign_in.mail_server(
    "EMAIL_URL",
    "Server that sends the mails, such as `smtp://user:password@mail.example.com`. `smtp` uses STARTTLS on port 587, "
    "its default, and no TLS on other ports; `smtps` uses TLS; `console:` prints the mails. Without it, forgotten "
    "passwords are for the operator.",
)
EMAIL_FROM = sign_in.text(
    "EMAIL_FROM",
    lambda: f"no-reply@{BASE_URL.read().host}",
    "Sender of the mails.",
    values="e-mail address",
    shown="`no-reply@` and the host of `BASE_URL`",
)
SIGNUP = sign_in.choice(
    "SIGNUP",
    ("off", "invited", "open"),
    "Who can create an account on the page for sign-up: nobody, people whose address has an invitation to a "
    "workspace, or everybody. `invited` and `open` need `EMAIL_URL`. The page of an invitation always creates one.",
)
OIDC_ISSUER = sign_in.text(
    "OIDC_ISSUER",
    "",
    "Issuer of an OpenID Connect provider with which people can log in. Register `/accounts/oidc/callback/` of "
    "`BASE_URL` there as redirect URI.",
    values="https URL",
    shown="none",
)
OIDC_CLIENT_ID = sign_in.text("OIDC_CLIENT_ID", "", "Client ID of this service at the provider.")
OIDC_CLIENT_SECRET = sign_in.text("OIDC_CLIENT_SECRET", "", "Its secret.")
OIDC_CREATE_ACCOUNTS = sign_in.flag(
    "OIDC_CREATE_ACCOUNTS",
    "Whether the first login of a person with a verified e-mail address creates an account, also without an "
    "invitation. Otherwise people log in with their password once and connect their identity.",
)
OIDC_ALLOWED_DOMAINS = sign_in.lower_case_words(
    "OIDC_ALLOWED_DOMAINS",
    "Domains of verified e-mail addresses that may log in with the provider, such as `corp.example`. Empty: all.",
)
OIDC_STAFF_GROUP = sign_in.text(
    "OIDC_STAFF_GROUP",
    "",
    "Value of the provider's claim `groups` that makes people staff. [What it "
    "grants](operators.md#single-sign-on).",
)
OIDC_LOGOUT = sign_in.flag(
    "OIDC_LOGOUT",
    "Whether logging out here also logs out at the provider. Register `/accounts/login/` of `BASE_URL` there as "
    "redirect URI after a logout.",
)
PASSWORD_LOGIN = sign_in.switch(
    "PASSWORD_LOGIN",
    "Whether people can log in with a password, on pages and through the API. `off` needs `OIDC_ISSUER`.",
)
REQUIRE_2FA = sign_in.choice(
    "REQUIRE_2FA",
    ("none", "staff", "all"),
    "Accounts that need a second factor for the admin, for tokens of the dashboard, and to log in to the API with "
    "their password or refresh its tokens: those of staff (`staff`) or all (`all`). API keys need none.",
)

brand = Group("Appearance")
BRAND_NAME = brand.brand_name(
    "BRAND_NAME",
    "Name of the company on the dashboard, the admin and all other pages, and in the subject and signature of mails.",
    values=f"at most {MAX_BRAND_NAME} characters",
)
BRAND_LOGO = brand.logo(
    "BRAND_LOGO",
    "Logo on the same pages, and in QR codes without a `logo` in the request. Each QR code keeps a copy.",
    values="path of a PNG or JPEG file of at most 100 KB and 1024 pixels across",
)
BRAND_COLOR = brand.color(
    "BRAND_COLOR",
    "Colour of buttons and links on the same pages, and of the admin's header, in another shade where the contrast is "
    "below 4.5:1; also of QR codes without a colour in the request, if every reader can read it on white.",
)

accounts = Group("Accounts and limits")
ACCESS_TOKEN_MINUTES = accounts.integer(
    "ACCESS_TOKEN_MINUTES", 60, "Lifetime of access tokens in minutes.", minimum=1
)
REFRESH_TOKEN_DAYS = accounts.integer(
    "REFRESH_TOKEN_DAYS", 30, "Days from a login to the end of its session and refresh tokens.", minimum=1
)
BROWSER_SESSION_DAYS = accounts.integer(
    "BROWSER_SESSION_DAYS",
    30,
    "Days from a login on a page to the end of its session, whatever extends it. Unextended, it lasts 14 at most.",
    minimum=1,
)
RATE_LIMIT_FREE = accounts.integer(
    "RATE_LIMIT_FREE", 600, "API requests per minute of an account on the Free plan; 0: no limit."
)
RATE_LIMIT_PRO = accounts.integer("RATE_LIMIT_PRO", 3_000, "The same on the Pro plan.")
RATE_LIMIT_ENTERPRISE = accounts.integer("RATE_LIMIT_ENTERPRISE", 12_000, "The same on the Enterprise plan.")
RATE_LIMIT_ANONYMOUS = accounts.integer(
    "RATE_LIMIT_ANONYMOUS",
    300,
    "API requests per minute of a client network (/24 or /56) without a valid credential; 0: no limit.",
)
RATE_LIMIT_PASSWORDS = accounts.integer(
    "RATE_LIMIT_PASSWORDS",
    60,
    "Passwords per minute, right or wrong, that a client network (/24 or /48) can send for accounts, and as many for "
    "links; 0: no limit.",
)
UNKNOWN_CODE_LIMIT = accounts.integer(
    "UNKNOWN_CODE_LIMIT",
    60,
    "Requests per minute of a client network for codes that do not exist; 0: no limit.",
    maximum=1_000,
)
IDEMPOTENCY_MB = accounts.integer(
    "IDEMPOTENCY_MB",
    64,
    "Megabytes of responses kept for an account's Idempotency-Keys; 0: no limit.",
)
DOMAINS_PER_ACCOUNT = accounts.integer(
    "DOMAINS_PER_ACCOUNT", 100, "Custom domains that an account can have; 0: no limit."
)
QR_CODES_PER_ACCOUNT = accounts.integer(
    "QR_CODES_PER_ACCOUNT", 100_000, "QR codes that an account can have; 0: no limit."
)
WEBHOOKS_PER_WORKSPACE = accounts.integer(
    "WEBHOOKS_PER_WORKSPACE", 20, "Webhooks that a workspace can have; 0: none."
)
WORKSPACES_PER_ACCOUNT = accounts.integer(
    "WORKSPACES_PER_ACCOUNT",
    10,
    "Workspaces that an account can own besides its personal one; 0: no limit.",
)
WORKSPACES_PER_DAY = accounts.integer(
    "WORKSPACES_PER_DAY",
    20,
    "Workspaces that an account can create in 24 hours, deleted ones included; 0: no limit.",
    maximum=500,
)
STORAGE_MB_FREE = accounts.integer(
    "STORAGE_MB_FREE",
    5_000,
    "Megabytes of links and QR codes that an account on the Free plan can store, without clicks and history; "
    "0: no limit. Set it alike on all hosts: the one that started last decides.",
)
STORAGE_MB_PRO = accounts.integer("STORAGE_MB_PRO", 50_000, "The same on the Pro plan.")
STORAGE_MB_ENTERPRISE = accounts.integer("STORAGE_MB_ENTERPRISE", 0, "The same on the Enterprise plan.")
RESERVED_CODES = accounts.lower_case_words(
    "RESERVED_CODES", "Further words that no new link can have as its code, in any case."
)
CUSTOM_CODE_PUNCTUATION = accounts.flag(
    "CUSTOM_CODE_PUNCTUATION",
    "Whether the custom codes of new links may also have `-` and `_`, such as `spring-sale`. Imported ones "
    "always may.",
)
COMPATIBLE_APIS = accounts.some_of(
    "COMPATIBLE_APIS",
    ("shlink", "bitly"),
    "Other shorteners whose API the service also speaks, as far as programs need it to create and find links.",
)
LINK_QUOTA_FREE = accounts.integer(
    "LINK_QUOTA_FREE",
    0,
    "Links that an account on the Free plan can create in a calendar month (UTC); 0: no limit.",
)
LINK_QUOTA_PRO = accounts.integer("LINK_QUOTA_PRO", 0, "The same on the Pro plan.")
LINK_QUOTA_ENTERPRISE = accounts.integer("LINK_QUOTA_ENTERPRISE", 0, "The same on the Enterprise plan.")

HISTORY_DAYS = accounts.integer(
    "HISTORY_DAYS",
    400,
    "Minimum number of days to keep the history of changes; 0: keep it forever.",
)
EVENT_RETENTION_DAYS = accounts.integer(
    "EVENT_RETENTION_DAYS",
    30,
    "Days to keep events, at least: whole days (UTC) are deleted at once.",
    minimum=1,
)
REQUEST_LOG_DAYS = accounts.integer(
    "REQUEST_LOG_DAYS",
    30,
    "Days to keep the log of API requests that admins of a workspace can read; 0: log none.",
)
HISTORY_MB = accounts.integer(
    "HISTORY_MB",
    1_000,
    "Megabytes of history that a workspace keeps: beyond them, its oldest changes are deleted sooner; 0: no limit.",
)

logs = Group("Logs and metrics")
LOG_FORMAT = logs.choice("LOG_FORMAT", ("text", "json"), "Format of the log on stderr.")
LOG_LEVEL = logs.choice("LOG_LEVEL", ("INFO", "DEBUG", "WARNING", "ERROR"), "Least severe level to log.")
LOG_ADDRESSES = logs.flag("LOG_ADDRESSES", "Whether the log contains the addresses of API clients.")
PROMETHEUS_MULTIPROC_DIR = logs.text(
    "PROMETHEUS_MULTIPROC_DIR",
    "",
    "Folder in which all processes of the host share their metrics.",
    values="path",
    shown="a private folder in `/dev/shm`",
)
OTEL_EXPORTER_OTLP_ENDPOINT = logs.collector(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "Collector that gets a span for each request of the API and the pages, and for each of their SQL statements "
    "([more](monitoring.md#traces)).",
)

GROUPS = (addresses, database, proxies, processes, clicks, domains, outbound, sign_in, brand, accounts, logs)


def read_all() -> dict[str, Any]:
    """The value of each variable. Raises ImproperlyConfigured."""
    return {variable.name: variable.read() for group in GROUPS for variable in group.variables}
