from importlib import import_module

from django.apps import AppConfig
from django.contrib.admin import apps as admin

from shortener_project.recorded_schema.applied import connect_signals


class ProjectConfig(AppConfig):
    name = "shortener_project"
    default = True

    def ready(self) -> None:
        import_module("shortener_project.configuration.checks")
        connect_signals()


class OperatorsAdminConfig(admin.AdminConfig):
    """Django's admin with a front page of today's figures."""

    default = False
    default_site = "shortener_project.administration.admin_site.OperatorSite"
