from django.contrib import admin
from django.http import Http404
from django.urls import include, path
from django.views.generic import RedirectView

from domains.tls import tls_allowed
from qrcodes.urls import image_urlpatterns
from shortener_project import admin_login, errors, views
from shortener_project.metrics import metrics
from shortener_project.schema import DocsView, SchemaView

urlpatterns = [
    path("", views.home),
    path("healthz", views.healthz),
    path("readyz", views.readyz),
    path("robots.txt", views.robots),
    path("favicon.ico", views.favicon),
    path("metrics", metrics),
    path("internal/tls-allowed", tls_allowed),
    path("admin", RedirectView.as_view(url="/admin/")),
    path("admin/login/", admin_login.login),
    path("admin/", admin.site.urls),
    path("api", errors.not_found, {"exception": Http404()}),
    path("api/schema", SchemaView.as_view()),
    path("api/docs", DocsView.as_view()),
    path("api/", include("accounts.urls")),
    path("api/", include("links.urls")),
    path("api/", include("domains.urls")),
    path("api/", include("analytics.urls")),
    path("api/", include("qrcodes.urls")),
    path("qr/", include(image_urlpatterns)),
    # Last: whatever the service itself does not answer may be a code.
    path("", include("redirects.urls")),
]

handler400 = "shortener_project.errors.bad_request"
handler404 = "shortener_project.errors.not_found"
handler500 = "shortener_project.errors.internal_error"
