from django.urls import path

from dashboard import views

# The only list of pages: each path below /dashboard/, with its module below front/pages. The page carries the list, so
# that the front end routes by it, too. Any other path is the frame with status 404.
PAGES = {
    "": "links/page.js",
    "overview": "overview/page.js",
    "analytics": "analytics/page.js",
    "new": "editor/page.js",
    "new/many": "many/page.js",
    "links/<uuid:id>": "editor/page.js",
    "links/<uuid:id>/report": "report/page.js",
    "deleted": "deleted/page.js",
    "domains": "domains/page.js",
    "import": "import/page.js",
    "start": "start/page.js",
    "account": "account/page.js",
    "workspaces": "workspaces/page.js",
    "workspaces/<uuid:id>": "workspaces/workspace_page.js",
    "keys": "keys/page.js",
    "keys/requests": "keys/requests_page.js",
    "tags": "tags/page.js",
    "utm-templates": "utm/page.js",
    "webhooks": "webhooks/page.js",
    "webhooks/<uuid:id>": "webhooks/webhook_page.js",
    "history": "history/page.js",
    "links/<uuid:id>/history": "history/link_page.js",
}

urlpatterns = [
    path("files/<str:version>/<path:name>", views.file),
    path("brand/<str:version>.css", views.brand_style),
    path("session/token", views.token),
    path("session/end", views.sign_out),
    *(path(page, views.page, {"module": module, "pages": PAGES}) for page, module in PAGES.items()),
    path("<path:address>", views.unknown_page, {"pages": PAGES}),
]
