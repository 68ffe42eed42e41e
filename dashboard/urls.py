from django.urls import path

from dashboard import views

# The pages that front/pages/routes.js knows, with their modules below front/pages. Any other path gets the service's
# own 404.
PAGES = {
    "": "links/page.js",
    "new": "editor/page.js",
    "links/<uuid:id>": "editor/page.js",
    # Report.
    "links/<uuid:id>/report": "report/page.js",
    # Domains, import, first steps.
    "domains": "domains/page.js",
    "import": "import/page.js",
    "start": "start/page.js",
    # Account.
    "account": "account/page.js",
    "workspaces": "workspaces/page.js",
    "workspaces/<uuid:id>": "workspaces/workspace_page.js",
    "keys": "keys/page.js",
    "history": "history/page.js",
    "links/<uuid:id>/history": "history/link_page.js",
}

urlpatterns = [
    path("files/<str:version>/<path:name>", views.file),
    path("brand/<str:version>.css", views.brand_style),
    path("session/token", views.token),
    path("session/end", views.sign_out),
    *(path(page, views.page, {"module": f"pages/{module}"}) for page, module in PAGES.items()),
]
