from django.conf import settings
from django.contrib import admin
from django.http import Http404
from django.urls import include, path
from django.views.generic import RedirectView

from common.brand import LOGO_PATH
from compatible.urls import routes_of
from domains.app_links import DOCUMENTS
from domains.views import tls_allowed
from qrcodes.urls import image_urlpatterns
from redirects.app_links import app_links
from redirects.simulation import admin as simulation_admin  # noqa: F401 # registers the admin's page of links
from shortener_project import admin_site
from shortener_project.web import views
from shortener_project.web.error_pages import ErrorCodesView, ErrorCodeView
from shortener_project.web.guide import GuideView
from shortener_project.web.metrics import metrics
from shortener_project.web.operations import OperationsView, OperationView
from shortener_project.web.overview import ApiRootView, llms_txt
from shortener_project.web.schema import DocsView, SchemaView
from shortener_project.web.well_known import SECURITY_TXT, change_password, security_txt

urlpatterns = [
    # The busiest routes first: each pattern takes time until one matches.
    path("api/", include("links.urls")),
    path("", views.home),
    path("healthz", views.healthz),
    path("readyz", views.readyz),
    path("robots.txt", views.robots),
    path("favicon.ico", views.favicon),
    path(SECURITY_TXT.removeprefix("/"), security_txt),
    path(".well-known/change-password", change_password),
    *(path(document.removeprefix("/"), app_links) for document in DOCUMENTS),
    path("llms.txt", llms_txt),
    path(LOGO_PATH.removeprefix("/"), views.brand_logo),
    path("metrics", metrics),
    path("internal/tls-allowed", tls_allowed),
    path("accounts", RedirectView.as_view(url="/accounts/")),
    path("accounts/", include("sign_in.urls")),
    path("admin", RedirectView.as_view(url="/admin/")),
    path("admin/login/", admin_site.login),
    path("admin/", admin.site.urls),
    path("api", views.not_found, {"exception": Http404()}),
    path("api/schema", SchemaView.as_view()),
    path("api/docs", DocsView.as_view()),
    path("api/", ApiRootView.as_view()),
    path("api/docs/guide", GuideView.as_view()),
    path("api/docs/guide/<name>", GuideView.as_view()),
    path("api/docs/operations", OperationsView.as_view()),
    path("api/docs/operations/<name>", OperationView.as_view()),
    path("api/docs/errors", ErrorCodesView.as_view()),
    path("api/docs/errors/<code>", ErrorCodeView.as_view()),
    path("api/", include("accounts.urls")),
    path("api/", include("redirects.simulation.urls")),
    path("api/", include("domains.urls")),
    path("api/", include("analytics.urls")),
    path("api/", include("qrcodes.urls")),
    path("api/", include("events.urls")),
    path("api/", include("events.webhooks.urls")),
    path("", include("agents.urls")),
    *routes_of(settings.COMPATIBLE_APIS),
    path("qr/", include(image_urlpatterns)),
    path("reports/", include("analytics.shares.urls")),
    path("dashboard", RedirectView.as_view(url=settings.LOGIN_REDIRECT_URL)),
    path("dashboard/", include("dashboard.urls")),
    # Last: any other path may be a code.
    path("", include("redirects.urls")),
]

handler400 = "shortener_project.web.views.bad_request"
handler404 = "shortener_project.web.views.not_found"
handler500 = "shortener_project.web.views.internal_error"
