from django.conf import settings
from django.db import models
from django.utils.crypto import get_random_string


def new_code() -> str:
    return get_random_string(7)


class Link(models.Model):
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="links")
    code = models.CharField(max_length=50, unique=True, default=new_code, editable=False)
    url = models.URLField(max_length=2000)
    title = models.CharField(max_length=200, blank=True)
    tags = models.JSONField(default=list, blank=True)
    is_active = models.BooleanField(default=True)
    clicks = models.PositiveBigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        app_label = "stock"
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["owner", "-created_at"])]

    def __str__(self) -> str:
        return self.code
