from django.urls import path

from agents.views import McpView

urlpatterns = [path("mcp", McpView.as_view({"post": "answer"}))]
