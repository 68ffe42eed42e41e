from django.apps import AppConfig
from django.contrib.admin import apps as admin


class ProjectConfig(AppConfig):
    name = "shortener_project"
    default = True


class OperatorsAdminConfig(admin.AdminConfig):
    """Django's own, with our front page."""

    default = False
    default_site = "shortener_project.operators.OperatorSite"
