from importlib import import_module

from django.apps import AppConfig
from django.contrib.admin import apps as admin

from shortener_project.running.schema import store_digests


class ProjectConfig(AppConfig):
    name = "shortener_project"
    default = True

    def ready(self) -> None:
        import_module("shortener_project.configuration.checks")
        store_digests()


class OperatorsAdminConfig(admin.AdminConfig):
    """Django's admin with a front page of today's figures."""

    default = False
    default_site = "shortener_project.admin_site.OperatorSite"
