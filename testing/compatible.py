"""The routes of a service that speaks the APIs of all other shorteners that it knows, for ``pytest.mark.urls``."""

from compatible.urls import ROUTES, routes_of
from shortener_project import urls

handler400, handler404, handler500 = urls.handler400, urls.handler404, urls.handler500
urlpatterns = [*routes_of(ROUTES), *urls.urlpatterns]
