from django.apps import AppConfig


class RedirectsConfig(AppConfig):
    name = "redirects"
