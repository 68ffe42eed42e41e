from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request

from accounts.admission import costly_call
from accounts.api_requests.idempotency import idempotent
from accounts.callers import account_of, author_of, caller_of, workspace_of
from accounts.rights import Role, Scope
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns
from domains.representations import moved_domain
from domains.selectors import get_domain
from links import representations, selectors
from links.bulk import services as bulk
from links.bulk.moving import move_links
from links.bulk.moving_domains import move_domain
from links.bulk.schema import (
    CREATED,
    DELETED,
    MOVED,
    MOVED_DOMAIN,
    UPDATED,
    describe_bulk,
    describe_domain_move,
)
from links.bulk.serializers import (
    BulkCreateSerializer,
    BulkDeleteSerializer,
    BulkParser,
    BulkUpdateSerializer,
    ItemReader,
    MoveDomainSerializer,
    MoveSerializer,
    UpdateItemSerializer,
)
from links.key_limits import may_read_links
from links.models import Link
from links.serializers import CreateLinkSerializer

_Show = Callable[[int, Link], Mapping[str, Any]]


@describe_bulk
class BulkViewSet(ApiViewSet):
    access = {
        "bulk_create": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "bulk_update": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "bulk_delete": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "move": Access(Role.EDITOR, Scope.URLS_MOVE),
    }
    bodies = {
        "bulk_create": BulkCreateSerializer,
        "bulk_update": BulkUpdateSerializer,
        "bulk_delete": BulkDeleteSerializer,
        "move": MoveSerializer,
    }

    def before_body(self, request: Request) -> None:
        self.request_stack.enter_context(costly_call(caller_of(request).id))

    @action(detail=False, methods=["post"], url_path="bulk", parser_classes=[BulkParser])
    @idempotent
    @returns(200, "1 of 1 URLs created.", fields=CREATED)
    def bulk_create(self, request: Request) -> dict[str, Any]:
        reader = ItemReader(self.handling, BulkCreateSerializer)
        items = reader.read(CreateLinkSerializer(), self.read_body()["urls"])
        outcomes, found = bulk.create_links(
            owner=workspace_of(request), creator=author_of(request), items=items
        )

        def brief(position: int, link: Link) -> Mapping[str, Any]:
            # A link that an earlier item has created has no counter yet.
            is_older = position in found and "counter" in link._state.fields_cache
            return (representations.found_link if is_older else representations.created_link)(link)

        return bulk.results_of_items(
            outcomes,
            self._shown(outcomes, brief),
            done="created or found" if found else "created",
            warnings=reader.warnings,
            status=201,
            found=found,
        )

    @action(detail=False, methods=["post"], url_path="bulk-update", parser_classes=[BulkParser])
    @returns(200, "1 of 1 URLs updated.", fields=UPDATED)
    def bulk_update(self, request: Request) -> dict[str, Any]:
        sent, reader = self.read_body(), ItemReader(self.handling, BulkUpdateSerializer)
        if "urls" in sent:
            items = reader.read(UpdateItemSerializer(), sent["urls"])
        else:
            items = reader.read_for_all(sent["ids"], sent["data"])
            shared = _without_id(sent["data"])
        outcomes = bulk.update_links(owner=workspace_of(request), items=items)
        return bulk.results_of_items(
            outcomes,
            self._shown(
                outcomes,
                lambda position, link: representations.updated_link(
                    link, _without_id(sent["urls"][position]) if "urls" in sent else shared
                ),
            ),
            done="updated",
            warnings=reader.warnings,
        )

    def _shown(self, outcomes: Sequence[bulk.Verdict], brief: _Show) -> _Show:
        """How results show links: by ``brief``, or whole for clients that prefer it."""
        owner, account = workspace_of(self.request), author_of(self.request)
        if not (may_read_links(owner) and self.prefers_representation):
            return brief
        written = [link.pk for link in outcomes if isinstance(link, Link)]
        whole = {
            link.pk: representations.whole_link(link, owner, account) for link in selectors.get_links(written)
        }
        # Somebody may have deleted a link meanwhile.
        return lambda position, link: whole.get(link.pk) or brief(position, link)

    @action(detail=False, methods=["post"], url_path="bulk-delete")
    @returns(200, "1 of 1 URLs deleted.", fields=DELETED)
    def bulk_delete(self, request: Request) -> dict[str, Any]:
        outcomes = bulk.delete_links(owner=workspace_of(request), public_ids=self.read_body()["ids"])
        results = bulk.results_of_items(
            outcomes, lambda _, public_id: {"_id": str(public_id)}, done="deleted"
        )
        if results["succeeded"] == 0:
            del results["message"]
            raise bulk.NothingDeleted(results)
        return results

    @action(detail=False, methods=["post"])
    @returns(200, "1 of 1 URLs moved.", fields=MOVED)
    def move(self, request: Request) -> dict[str, Any]:
        sent = self.read_body()
        outcomes = move_links(
            source=workspace_of(request),
            target_id=sent["target_id"],
            actor=account_of(request),
            public_ids=sent["ids"],
        )
        return bulk.results_of_items(outcomes, lambda _, public_id: {"_id": str(public_id)}, done="moved")


@describe_domain_move
class DomainMoveViewSet(ApiViewSet):
    """Apart from the other calls about domains, which know nothing of links."""

    # A key belongs to one workspace, so it cannot move a domain to another.
    access = {"create": Access(Role.ADMIN, None)}
    bodies = {"create": MoveDomainSerializer}

    def before_body(self, request: Request) -> None:
        self.request_stack.enter_context(costly_call(caller_of(request).id))

    @returns(200, "Domain moved successfully.", fields=MOVED_DOMAIN)
    def create(self, request: Request, id: str) -> dict[str, Any]:
        source = workspace_of(request)
        sent = self.read_body_about(lambda: get_domain(source, id))
        domain = get_domain(source, id)
        moved = move_domain(source=source, domain=domain, actor=account_of(request), **sent)
        return {"domain": moved_domain(moved.domain), "links": moved.links}


def _without_id(sent: dict[str, Any]) -> set[str]:
    """The names of the sent fields."""
    return sent.keys() - {"_id"}
