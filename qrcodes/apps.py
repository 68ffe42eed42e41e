from importlib import import_module

from django.apps import AppConfig


class QrCodesConfig(AppConfig):
    name = "qrcodes"
    verbose_name = "QR codes"

    def ready(self) -> None:
        # The import connects the signal's receiver.
        import_module("qrcodes.services")
