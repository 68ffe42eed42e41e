from django.apps import AppConfig


class QrCodesConfig(AppConfig):
    name = "qrcodes"
    verbose_name = "QR codes"
