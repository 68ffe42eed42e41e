"""The pages under /accounts/. Those of allauth's pages that manage several e-mail addresses are left out."""

from allauth.account import views as account
from allauth.mfa.base import views as second_factor
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from django.urls import path, register_converter

from sign_in import invitations, sign_up, views
from sign_in.openid_connect import views as openid_connect


class _Base36:
    regex = "[0-9A-Za-z]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(_Base36, "base36")

urlpatterns = [
    path("", views.home, name="account_home"),
    path("login/", account.login, name="account_login"),
    path("oidc/login/", openid_connect.login, name="oidc_login"),
    path("oidc/connect/", openid_connect.connect, name="oidc_connect"),
    path("oidc/callback/", openid_connect.callback, name="oidc_callback"),
    path("oidc/identities/<int:identity>/remove/", openid_connect.disconnect, name="oidc_disconnect"),
    path("logout/", openid_connect.logout, name="account_logout"),
    path("inactive/", account.account_inactive, name="account_inactive"),
    path("signup/", sign_up.sign_up, name="account_signup"),
    path("signup/sent/", sign_up.sent, name="account_signup_sent"),
    path("signup/confirm/<str:token>/", sign_up.confirm, name="account_confirm_signup"),
    path("invitations/<str:token>/", invitations.invitation, name="account_invitation"),
    path("sessions/", views.sessions, name="account_sessions"),
    path("sessions/end/", views.end_all_other_sessions, name="account_end_other_sessions"),
    path("sessions/<uuid:session>/end/", views.end_one_session, name="account_end_session"),
    path("own-visits/", views.own_visits, name="account_own_visits"),
    path("confirm/", views.confirm, name="account_confirm"),
    path("reauthenticate/", account.reauthenticate, name="account_reauthenticate"),
    path("password/change/", views.password_change, name="account_change_password"),
    path("password/set/", views.no_password, name="account_set_password"),
    path("password/reset/", views.password_reset, name="account_reset_password"),
    path("password/reset/done/", account.password_reset_done, name="account_reset_password_done"),
    path(
        "password/reset/key/done/",
        account.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    path(
        "password/reset/key/<base36:uidb36>-<str:key>/",
        views.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("2fa/", second_factor.index, name="mfa_index"),
    path("2fa/authenticate/", views.Authenticate.as_view(), name="mfa_authenticate"),
    path("2fa/reauthenticate/", second_factor.reauthenticate, name="mfa_reauthenticate"),
    path("2fa/totp/activate/", views.one_at_a_time(views.ActivateTotp.as_view()), name="mfa_activate_totp"),
    path("2fa/totp/deactivate/", views.one_at_a_time(totp.deactivate_totp), name="mfa_deactivate_totp"),
    path("2fa/recovery-codes/", recovery_codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path(
        "2fa/recovery-codes/generate/",
        views.one_at_a_time(recovery_codes.generate_recovery_codes),
        name="mfa_generate_recovery_codes",
    ),
    path(
        "2fa/recovery-codes/download/",
        recovery_codes.download_recovery_codes,
        name="mfa_download_recovery_codes",
    ),
    path("2fa/webauthn/", passkeys.list_webauthn, name="mfa_list_webauthn"),
    path("2fa/webauthn/add/", views.one_at_a_time(passkeys.add_webauthn), name="mfa_add_webauthn"),
    path("2fa/webauthn/login/", passkeys.login_webauthn, name="mfa_login_webauthn"),
    path(
        "2fa/webauthn/reauthenticate/",
        views.ReauthenticateWithPasskey.as_view(),
        name="mfa_reauthenticate_webauthn",
    ),
    path(
        "2fa/webauthn/keys/<int:pk>/remove/",
        views.one_at_a_time(views.RemovePasskey.as_view()),
        name="mfa_remove_webauthn",
    ),
    path(
        "2fa/webauthn/keys/<int:pk>/edit/",
        views.one_at_a_time(passkeys.edit_webauthn),
        name="mfa_edit_webauthn",
    ),
]
