from django.apps import AppConfig


class ProjectConfig(AppConfig):
    name = "shortener_project"
