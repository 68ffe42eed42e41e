from importlib import import_module

from allauth.account.apps import AccountConfig
from django.apps import AppConfig


class SignInConfig(AppConfig):
    name = "sign_in"
    # Django does not choose between two app configurations in one module.
    default = True

    def ready(self) -> None:
        import_module("sign_in.signals")


class AllauthConfig(AccountConfig):
    """allauth's app without its check that MIDDLEWARE names its middleware, which `sign_in.middleware` runs."""

    default = False

    def ready(self) -> None:
        import_module("allauth.account.checks")
