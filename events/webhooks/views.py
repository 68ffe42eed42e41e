from __future__ import annotations

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request

from accounts.api_requests.idempotency import idempotent
from accounts.callers import workspace_of
from accounts.rights import Role, Scope
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns
from events.webhooks import selectors, services
from events.webhooks.representations import DELIVERY_PAGE, SECRET, delivery, webhook
from events.webhooks.schema import describe_webhooks
from events.webhooks.serializers import (
    CreateWebhookSerializer,
    DeliveryQuery,
    ReplaySerializer,
    TestWebhookSerializer,
    UpdateWebhookSerializer,
)

_ACTIONS = (
    *("list", "create", "retrieve", "partial_update", "destroy"),
    *("test", "rotate_secret", "deliveries", "resend", "replay"),
)


@describe_webhooks
class WebhookViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    # Endpoints get everything that happens in the workspace, so reading them is for admins, too.
    access = dict.fromkeys(_ACTIONS, Access(Role.ADMIN, Scope.WEBHOOKS_WRITE))
    queries = {"deliveries": DeliveryQuery}
    bodies = {
        "create": CreateWebhookSerializer,
        "partial_update": UpdateWebhookSerializer,
        "test": TestWebhookSerializer,
        "replay": ReplaySerializer,
    }

    @returns(200, webhooks=[webhook])
    def list(self, request: Request) -> dict[str, Any]:
        return {"webhooks": [webhook(listed) for listed in selectors.list_webhooks(workspace_of(request))]}

    @idempotent
    @returns(201, "Webhook created successfully.", webhook=webhook, secret=SECRET)
    def create(self, request: Request) -> dict[str, Any]:
        made = services.create_webhook(owner=workspace_of(request), **self.read_body())
        return {"webhook": webhook(made.webhook), "secret": made.secret}

    @returns(200, webhook=webhook)
    def retrieve(self, request: Request, id: str) -> dict[str, Any]:
        return {"webhook": webhook(selectors.get_webhook(workspace_of(request), id))}

    @returns(200, "Webhook updated successfully.", webhook=webhook)
    def partial_update(self, request: Request, id: str) -> dict[str, Any]:
        changed = services.change_webhook(owner=workspace_of(request), public_id=id, changes=self.read_body())
        return {"webhook": webhook(changed)}

    @returns(200, "Webhook deleted successfully.")
    def destroy(self, request: Request, id: str) -> None:
        services.delete_webhook(owner=workspace_of(request), public_id=id)

    @action(detail=True, methods=["post"], url_path="rotate-secret")
    @returns(200, "Secret rotated successfully.", webhook=webhook, secret=SECRET)
    def rotate_secret(self, request: Request, id: str) -> dict[str, Any]:
        rotated = services.rotate_secret(owner=workspace_of(request), public_id=id)
        return {"webhook": webhook(rotated.webhook), "secret": rotated.secret}

    @action(detail=True, methods=["post"])
    @idempotent
    @returns(201, "The test will be sent in a moment.", delivery=delivery)
    def test(self, request: Request, id: str) -> dict[str, Any]:
        owner = workspace_of(request)
        made = services.send_test(owner=owner, public_id=id, of_type=self.read_body().get("type"))
        return {"delivery": delivery(selectors.show(owner, made.webhook, [made])[0])}

    @action(detail=True)
    @returns(200, fields=DELIVERY_PAGE)
    def deliveries(self, request: Request, id: str) -> dict[str, Any]:
        query = self.read_query()
        page = selectors.list_deliveries(workspace_of(request), id, **query)
        return {
            "deliveries": [delivery(shown) for shown in page.deliveries],
            "pagination": {"limit": query["limit"], "nextCursor": page.next_cursor},
        }

    @action(detail=True, methods=["post"], url_path="deliveries/<str:deliveryId>/resend")
    @idempotent
    @returns(201, "The delivery will be sent again in a moment.", delivery=delivery)
    def resend(self, request: Request, id: str, deliveryId: str) -> dict[str, Any]:
        owner = workspace_of(request)
        made = services.resend(owner=owner, public_id=id, delivery_id=deliveryId)
        return {"delivery": delivery(selectors.show(owner, made.webhook, [made])[0])}

    @action(detail=True, methods=["post"])
    @returns(200, "The events will be sent again.")
    def replay(self, request: Request, id: str) -> None:
        owner = workspace_of(request)
        sent = self.read_body_about(lambda: selectors.get_webhook(owner, id))
        services.replay(owner=owner, public_id=id, **sent)
