from django.urls import include, path
from rest_framework.routers import DefaultRouter

from bench.stock.views import LinkViewSet

router = DefaultRouter()
router.register("links", LinkViewSet, basename="link")
urlpatterns = [path("api/", include(router.urls))]
