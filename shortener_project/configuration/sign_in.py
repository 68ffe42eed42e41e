from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from shortener_project.configuration.env import MailServer
from sign_in.safe_urls import is_secure_url

# Labels of letters, which may be those of any language, digits and hyphens.
_DOMAIN = re.compile(r"[\w-]+(\.[\w-]+)*")


def provider_settings(issuer: str, client_id: str, client_secret: str) -> dict[str, Any]:
    """allauth's setting for the OpenID provider, {} without one. Raises ImproperlyConfigured if a value is missing."""
    values = [issuer, client_id, client_secret]
    if not any(values):
        return {}
    if not all(values):
        raise ImproperlyConfigured("OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET belong together.")
    if not is_secure_url(issuer):
        raise ImproperlyConfigured(f"OIDC_ISSUER must be an https URL, not {issuer!r}.")
    app = {
        "name": "single sign-on",
        "client_id": client_id,
        "secret": client_secret,
        "settings": {"oauth_pkce_enabled": True},
    }
    return {"oidc": {"APPS": [app]}}


def check_provider_options(
    issuer: str,
    *,
    OIDC_ALLOWED_DOMAINS: Collection[str],  # noqa: N803 # named like the variable
    **options: object,
) -> None:
    """Raises ImproperlyConfigured for an option that would have no effect, or let nobody in."""
    options["OIDC_ALLOWED_DOMAINS"] = OIDC_ALLOWED_DOMAINS
    if not issuer and (unused := sorted(name for name, value in options.items() if value)):
        raise ImproperlyConfigured(f"{unused[0]} needs OIDC_ISSUER.")
    for domain in sorted(OIDC_ALLOWED_DOMAINS):
        if not _DOMAIN.fullmatch(domain):
            raise ImproperlyConfigured(
                f"OIDC_ALLOWED_DOMAINS must be domains such as corp.example, not {domain!r}."
            )


def sign_in_settings(
    *,
    mail: MailServer,
    sender: str,
    provider: dict[str, Any],
    has_password_login: bool,
    signup: str,
) -> dict[str, Any]:
    """The settings of django-allauth, and those of Django that only the pages under /accounts/ use."""
    if not has_password_login and not provider:
        raise ImproperlyConfigured("PASSWORD_LOGIN=off needs OIDC_ISSUER: otherwise nobody could log in.")
    if signup != "off" and not mail.scheme:
        raise ImproperlyConfigured(f"SIGNUP={signup} needs EMAIL_URL: a mailed link proves the address.")
    if signup != "off" and not has_password_login:
        raise ImproperlyConfigured(
            f"SIGNUP={signup} needs PASSWORD_LOGIN=on. With a provider, OIDC_CREATE_ACCOUNTS creates accounts."
        )
    return {
        **mail.settings,
        "SOCIALACCOUNT_ADAPTER": "sign_in.openid_connect.identities.IdentityAdapter",
        "SOCIALACCOUNT_PROVIDERS": provider,
        # An e-mail address of the provider never opens an account that exists.
        "SOCIALACCOUNT_EMAIL_AUTHENTICATION": False,
        "SOCIALACCOUNT_STORE_TOKENS": False,
        # Connecting an identity requires the password again.
        "SOCIALACCOUNT_REAUTHENTICATION_REQUIRED": True,
        "DEFAULT_FROM_EMAIL": sender,
        "SERVER_EMAIL": sender,
        "AUTHENTICATION_BACKENDS": ["sign_in.adapters.PasswordBackend"],
        "LOGIN_URL": "/accounts/login/",
        "LOGIN_REDIRECT_URL": "/dashboard/overview",
        "LOGOUT_REDIRECT_URL": "/accounts/login/",
        # Also the lifetime of allauth's links in mails.
        "PASSWORD_RESET_TIMEOUT": 3 * 24 * 60 * 60,
        "ACCOUNT_ADAPTER": "sign_in.adapters.AccountAdapter",
        "ACCOUNT_LOGIN_METHODS": {"email"},
        "ACCOUNT_SIGNUP_FIELDS": ["email*", "password1*", "password2*"],
        "ACCOUNT_USER_MODEL_USERNAME_FIELD": None,
        # An account has one address, the one in its row.
        "ACCOUNT_EMAIL_VERIFICATION": "none",
        "ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR": "sign_in.adapters.ResetTokens",
        "ACCOUNT_EMAIL_NOTIFICATIONS": True,
        "ACCOUNT_SESSION_REMEMBER": True,
        # allauth counts in Django's cache, which is one per process. `sign_in` counts in the database instead.
        "ACCOUNT_RATE_LIMITS": False,
        "ACCOUNT_FORMS": {
            "login": "sign_in.forms.Login",
            "change_password": "sign_in.forms.ChangePassword",
            "reset_password": "sign_in.forms.ResetPassword",
        },
        "MFA_ADAPTER": "sign_in.adapters.SecondFactorAdapter",
        "MFA_FORMS": {
            "authenticate": "sign_in.forms.Authenticate",
            "reauthenticate": "sign_in.forms.Reauthenticate",
            "add_webauthn": "sign_in.forms.AddPasskey",
            "edit_webauthn": "sign_in.forms.RenamePasskey",
            "login_webauthn": "sign_in.forms.LoginWithPasskey",
            "authenticate_webauthn": "sign_in.forms.AuthenticateWithPasskey",
            "reauthenticate_webauthn": "sign_in.forms.ReauthenticateWithPasskey",
        },
        "MFA_RATE_LIMITS": False,
        "MFA_SUPPORTED_TYPES": ["totp", "recovery_codes", "webauthn"],
        "MFA_PASSKEY_LOGIN_ENABLED": True,
        "MFA_ALLOW_UNVERIFIED_EMAIL": True,
        # Tolerates clocks that differ by up to half a minute.
        "MFA_TOTP_TOLERANCE": 1,
        # Browsers allow passkeys without TLS only on loopback hosts.
        "MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN": False,
    }
