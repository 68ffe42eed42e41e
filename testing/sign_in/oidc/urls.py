import json

from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt

from testing.sign_in.oidc.claims import CLAIMS


@csrf_exempt
def claims(request: HttpRequest) -> HttpResponse:
    CLAIMS.clear()
    CLAIMS.update(json.loads(request.body))
    return HttpResponse()


urlpatterns = [
    path("claims", claims),
    path("login/", LoginView.as_view(template_name="login.html")),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
]
