"""Run as ``python -m testing.sign_in.oidc.server REDIRECT_URI ISSUER_PATH``. Prints its issuer and then serves.

It serves until it is killed. It has one account; `testing.sign_in.oidc.running.Provider.say` sets the claims about its
owner, and `Provider.behave` its manners.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.conf import settings

from testing.polling import DEADLINE
from testing.sign_in.oidc import manners
from testing.sign_in.oidc.manners import Misbehaving

# Some characters differ when they are form-encoded.
CLIENT_ID, CLIENT_SECRET = "shortener", "a+secret %41 of:the&client"
NAME, PASSWORD = "ada", "a password of the provider"
_PAGE = "<form method=post>{% csrf_token %}{{ form.as_p }}<button>Sign in here</button></form>"


class QuietHandler(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


class Server(ThreadingMixIn, WSGIServer):
    """Browsers open connections before they need them. A server with one thread would wait for their requests."""

    daemon_threads = True


def main(redirect_uri: str, path: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="oidc-"))
    with make_server("127.0.0.1", 0, None, server_class=Server, handler_class=QuietHandler) as server:
        issuer = f"http://localhost:{server.server_port}{path}"
        configure(folder, issuer)
        server.set_app(Misbehaving(application(redirect_uri)))
        sys.stdout.write(f"{issuer}\n")
        sys.stdout.flush()
        server.serve_forever()


def configure(folder: Path, issuer: str) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    manners.signing_key = pem
    settings.configure(
        SECRET_KEY="only of this provider" * 3,
        ALLOWED_HOSTS=["localhost"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": folder / "db.sqlite3",
                # A transaction that turns from reading to writing would fail at once if another one writes.
                "OPTIONS": {"timeout": DEADLINE, "transaction_mode": "IMMEDIATE"},
            }
        },
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        USE_TZ=True,
        ROOT_URLCONF="testing.sign_in.oidc.urls",
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        # Cookies do not distinguish ports.
        SESSION_COOKIE_NAME="provider_session",
        CSRF_COOKIE_NAME="provider_csrf",
        LOGIN_URL="/login/",
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "OPTIONS": {
                    "loaders": [("django.template.loaders.locmem.Loader", {"login.html": _PAGE})],
                    "context_processors": ["django.template.context_processors.request"],
                },
            }
        ],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_ISS_ENDPOINT": issuer,
            "OIDC_RSA_PRIVATE_KEY": pem,
            "OAUTH2_VALIDATOR_CLASS": "testing.sign_in.oidc.claims.Validator",
            "SCOPES": {"openid": "", "profile": "", "email": ""},
            "PKCE_REQUIRED": True,
            "OIDC_RP_INITIATED_LOGOUT_ENABLED": True,
            "OIDC_RP_INITIATED_LOGOUT_ALWAYS_PROMPT": False,
        },
    )
    django.setup()


def application(redirect_uri: str) -> Any:
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.core.wsgi import get_wsgi_application
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    User.objects.create_user(NAME, password=PASSWORD)
    Application.objects.create(
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=redirect_uri,
        post_logout_redirect_uris=redirect_uri.replace("/oidc/callback/", "/login/"),
        skip_authorization=True,
        algorithm=Application.RS256_ALGORITHM,
    )
    return get_wsgi_application()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
