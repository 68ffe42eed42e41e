from django.apps import AppConfig


class BansConfig(AppConfig):
    name = "bans"
