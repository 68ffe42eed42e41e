from django.urls import URLPattern, URLResolver, path
from rest_framework.routers import SimpleRouter

from links.bulk.views import BulkViewSet, DomainMoveViewSet
from links.health.views import CheckViewSet
from links.tags.views import TagChangeViewSet, TagViewSet
from links.transfer.views import TransferViewSet
from links.utm_templates.views import UtmTemplateViewSet
from links.views import LinkHistoryViewSet, LinkViewSet, LookUpViewSet, SavedViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
# Before the link routes, which would match `bulk`, `import`, `exists` and `deleted` as ids.
router.register("urls", BulkViewSet, basename="bulk")
router.register("urls", TransferViewSet, basename="transfer")
router.register("urls", LookUpViewSet, basename="look-up")
router.register("urls", CheckViewSet, basename="check")
router.register("urls", LinkHistoryViewSet, basename="link-history")
router.register("urls", LinkViewSet, basename="link")
router.register("views", SavedViewSet, basename="view")
router.register("utm-templates", UtmTemplateViewSet, basename="utm-template")
router.register("tags", TagViewSet, basename="tag")
router.register("tag-changes", TagChangeViewSet, basename="tag-change")


def _place(route: URLPattern | URLResolver) -> int:
    """Each pattern takes time until one matches: the busiest first, behind the names that would match as ids."""
    pattern = str(route.pattern)
    if pattern == "urls":
        return 0
    if pattern == "urls/<str:id>":
        return 2
    return 3 if "<" in pattern else 1


urlpatterns = [
    *sorted(router.urls, key=_place),
    path("domains/<str:id>/move", DomainMoveViewSet.as_view({"post": "create"})),
]
