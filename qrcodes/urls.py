from django.urls import path, register_converter
from rest_framework.routers import SimpleRouter

from qrcodes.design import ImageFormat
from qrcodes.views import DesignViewSet, ImageView, QrCodeViewSet


class _Converter:
    """Only well-formed image URLs reach the database; the router returns 404 for all others."""

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class TokenConverter(_Converter):
    regex = "[A-Za-z0-9_-]{22}"


class FormatConverter(_Converter):
    regex = "|".join(ImageFormat.values)


register_converter(TokenConverter, "token")
register_converter(FormatConverter, "image_format")

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("qr-designs", DesignViewSet, basename="qr-design")
router.register("qr-codes", QrCodeViewSet, basename="qr-code")
urlpatterns = router.urls
image_urlpatterns = [path("<token:token>.<image_format:image_format>", ImageView.as_view())]
