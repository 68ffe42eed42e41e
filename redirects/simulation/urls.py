from rest_framework.routers import SimpleRouter

from redirects.simulation.views import SimulationViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("urls", SimulationViewSet, basename="simulation")
urlpatterns = router.urls
