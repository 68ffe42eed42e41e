from rest_framework.routers import SimpleRouter

from links.bulk_views import BulkViewSet
from links.transfer_views import TransferViewSet
from links.views import LinkViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
# First, as its paths are none of single links.
router.register("urls", BulkViewSet, basename="bulk")
router.register("urls", TransferViewSet, basename="transfer")
router.register("urls", LinkViewSet, basename="link")
urlpatterns = router.urls
