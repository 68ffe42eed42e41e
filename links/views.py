from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request

from accounts.api_requests.idempotency import idempotent
from accounts.callers import author_of, caller_of, workspace_of
from accounts.password_hashing import admit_password_of_account
from accounts.representations import CHANGE_PAGE, account_age, change_page
from accounts.rights import Role, Scope
from accounts.serializers import HistoryQuery
from common.http.client_address import address_of_client
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.envelope import warn
from common.rest.pagination import PageQuery
from common.rest.returns import Version, required_versions, returns
from domains.addresses import address_of, base_address
from domains.models import Domain
from domains.selectors import count_domains
from links import grouped_counts, lists, representations, saved_views, selectors, services
from links.code_checks import check_code
from links.deleted_links import list_deleted_links
from links.duplicates import duplicate_link
from links.grouped_counts import GroupBy
from links.guess_counts import refuse_above_guess_limit
from links.history import link_history, restore_change
from links.key_limits import may_read_links
from links.lists import list_limited_links
from links.models import Link
from links.schema import (
    FIGURES,
    PAGINATION,
    describe_history,
    describe_links,
    describe_look_ups,
    describe_views,
)
from links.searches import filters_of_list, link_at_short_url, list_options
from links.serializers import (
    CodeQuery,
    CountQuery,
    CreateLinkSerializer,
    CreateViewSerializer,
    DuplicateLinkSerializer,
    ListQuery,
    ShortUrlQuery,
    UpdateLinkSerializer,
    UpdateViewSerializer,
    UpsertLinkSerializer,
)
from links.standby_reads import reads_standby

# What replaces the status and the message of a creation.
FOUND = {"http_status": 200, "message": "A URL with these values exists already."}


@describe_links
class LinkViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    queries = {"list": ListQuery, "count": CountQuery}
    access = {
        "list": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
        "create": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "retrieve": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
        "update": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "partial_update": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "destroy": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "duplicate": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "upsert": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "count": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
        "stats": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
        "available_domains": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
    }
    bodies = {
        "create": CreateLinkSerializer,
        "duplicate": DuplicateLinkSerializer,
        "update": UpdateLinkSerializer,
        "partial_update": UpdateLinkSerializer,
        "upsert": UpsertLinkSerializer,
    }

    @reads_standby
    @returns(200, urls=[representations.listed_link], pagination=PAGINATION)
    def list(self, request: Request) -> dict[str, Any]:
        parameters = self.read_query()
        window = self.window(parameters)
        owner, options = workspace_of(request), list_options(window, **parameters)
        only_own = owner.key is not None and owner.key.only_own
        listed = (list_limited_links if only_own else lists.list_links)(owner, options)
        page = self.paginate(listed, window)
        urls = representations.listed_links(listed.rows, owner, author_of(request))
        return {"urls": urls, "pagination": page}

    @idempotent
    @returns(
        201,
        "URL created successfully.",
        url=representations.CREATED_URL,
        domain=representations.link_domain,
        has_etag=True,
    )
    def create(self, request: Request) -> tuple[dict[str, Any], Version]:
        fields, is_new = self.read_body(), True
        with admit_password_of_account(caller_of(request).id, fields):
            named: dict[str, Any] = {"owner": workspace_of(request), "creator": author_of(request)}
            if fields.pop("find_if_exists", False):
                link, is_new = services.find_or_create_link(**named, **fields)
            else:
                link = services.create_link(**named, **fields)
        return self._created(request, link, is_new=is_new)

    def _created(self, request: Request, link: Link, *, is_new: bool) -> tuple[dict[str, Any], Version]:
        workspace = workspace_of(request)
        domain = representations.link_domain(address_of(link.domain))
        url = representations.created_link(link) if is_new else representations.found_link(link)
        if may_read_links(workspace) and self.prefers_representation:
            link = selectors.get_link(workspace, str(link.public_id))
            url = representations.whole_link(link, workspace, author_of(request))
        values = {"url": url, "domain": domain, **({} if is_new else FOUND)}
        return values, representations.version_of(link, url, is_new=is_new)

    @action(detail=True, methods=["post"])
    @idempotent
    @returns(
        201,
        "URL created successfully.",
        url=representations.CREATED_URL,
        domain=representations.link_domain,
        has_etag=True,
        is_sibling=True,
    )
    def duplicate(self, request: Request, id: str) -> tuple[dict[str, Any], Version]:
        changes = self.read_body()
        with admit_password_of_account(caller_of(request).id, changes):
            link = duplicate_link(
                owner=workspace_of(request),
                public_id=id,
                creator=author_of(request),
                changes=changes,
                sent=set(request.data),
            )
        return self._created(request, link, is_new=True)

    @returns(200, url=representations.WHOLE_URL, has_etag=True)
    def retrieve(self, request: Request, id: str) -> tuple[dict[str, Any], Version]:
        owner = workspace_of(request)
        link = selectors.get_link(owner, selectors.id_of(owner, id))
        url = representations.whole_link(link, owner, author_of(request))
        return {"url": url}, representations.version_of(link, url)

    @returns(200, "URL updated successfully.", url=representations.UPDATED_URL, has_etag=True)
    def update(self, request: Request, id: str) -> tuple[dict[str, Any], Version]:
        return self._update(request, id)

    @returns(200, "URL updated successfully.", url=representations.UPDATED_URL, has_etag=True)
    def partial_update(self, request: Request, id: str) -> tuple[dict[str, Any], Version]:
        return self._update(request, id)

    def _update(self, request: Request, public_id: str) -> tuple[dict[str, Any], Version]:
        changes, versions = self.read_body(), required_versions(request)
        owner, account = workspace_of(request), author_of(request)
        with admit_password_of_account(caller_of(request).id, changes):
            link = services.update_link(
                owner=owner,
                public_id=selectors.id_of(owner, public_id),
                changes=changes,
                versions=versions,
            )
        if may_read_links(owner) and self.prefers_representation:
            # Triggers have changed more than the statement returns, such as the health.
            link = selectors.get_link(owner, str(link.public_id))
            url = representations.whole_link(link, owner, account)
        else:
            url = representations.updated_link(link, set(request.data))
        return {"url": url}, representations.version_of(link, url)

    @returns(200, "URL deleted successfully.")
    def destroy(self, request: Request, id: str) -> None:
        owner, versions = workspace_of(request), required_versions(request)
        services.delete_link(owner=owner, public_id=selectors.id_of(owner, id), versions=versions)

    @action(detail=False, methods=["put"])
    @returns(
        200,
        "URL created successfully.",
        url=representations.UPDATED_URL,
        fields=[representations.IS_NEW],
        has_etag=True,
    )
    def upsert(self, request: Request) -> tuple[dict[str, Any], Version]:
        fields, owner, account = self.read_body(), workspace_of(request), author_of(request)
        with admit_password_of_account(caller_of(request).id, fields):
            link, is_new = services.upsert_link(
                owner=owner,
                creator=account,
                versions=required_versions(request),
                only_new=request.META.get("HTTP_IF_NONE_MATCH", "").strip() == "*",
                **fields,
            )
        link = selectors.get_link(owner, str(link.public_id))
        if may_read_links(owner):
            url = representations.whole_link(link, owner, account)
        else:
            url = representations.updated_link(link, set(request.data))
        message = f"URL {'created' if is_new else 'updated'} successfully."
        values = {"message": message, "created": is_new, "url": url}
        return values, representations.version_of(link, url)

    @action(detail=False)
    @reads_standby
    @returns(200, fields=representations.COUNT)
    def count(self, request: Request) -> dict[str, Any]:
        query = self.read_query()
        group_by, limit = query.pop("group_by", None), query.pop("limit")
        counted = grouped_counts.count(
            workspace_of(request),
            filters_of_list(query),
            None if group_by is None else GroupBy(group_by),
            limit=limit,
        )
        return representations.counted_links(counted)

    @action(detail=False)
    @reads_standby
    @returns(200, stats=representations.overview, beside=FIGURES)
    def stats(self, request: Request) -> dict[str, Any]:
        workspace = workspace_of(request)
        overview = selectors.overview(workspace)
        return {
            "stats": representations.overview(overview),
            "totalLinks": overview.links,
            "totalClicks": overview.clicks,
            "customDomains": count_domains(workspace),
            "accountAge": account_age(workspace.created_at, timezone.now()),
            "plan": workspace.plan,
        }

    @action(detail=False, url_path="domains/available")
    @returns(200, domains=[representations.available_domain])
    def available_domains(self, request: Request) -> dict[str, Any]:
        owner = workspace_of(request)
        addresses = [address_of(domain) for domain in Domain.objects.usable_by(owner)]
        if owner.key is None or owner.key.domain_id is None:
            addresses.insert(0, base_address())
        return {"domains": [representations.available_domain(address) for address in addresses]}


@describe_look_ups
class LookUpViewSet(ApiViewSet):
    queries = {"exists": CodeQuery, "resolve": ShortUrlQuery}
    access = {
        "exists": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
        "resolve": Access(Role.VIEWER, Scope.URLS_READ, limited=True),
    }

    @action(detail=False)
    @returns(200, fields=representations.CODE_CHECK)
    def exists(self, request: Request) -> dict[str, Any]:
        address = address_of_client(request)
        refuse_above_guess_limit(address)
        reason, suggestions = check_code(workspace_of(request), **self.read_query(), address=address)
        return {"available": reason is None, "reason": reason, "suggestions": suggestions}

    @action(detail=False)
    @returns(200, url=representations.WHOLE_URL, has_etag=True)
    def resolve(self, request: Request) -> tuple[dict[str, Any], Version]:
        owner = workspace_of(request)
        link = link_at_short_url(owner, **self.read_query())
        url = representations.whole_link(link, owner, author_of(request))
        return {"url": url}, representations.version_of(link, url)


@describe_history
class LinkHistoryViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    queries = {"deleted": PageQuery, "history": HistoryQuery}
    # The first three also concern deleted links, which the limits of keys do not cover.
    access = {
        "deleted": Access(Role.VIEWER, Scope.URLS_READ),
        "history": Access(Role.VIEWER, Scope.URLS_READ),
        "undelete": Access(Role.EDITOR, Scope.URLS_WRITE),
        "restore": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
    }

    @action(detail=False)
    @reads_standby
    @returns(200, urls=[representations.restorable_link], pagination=PAGINATION)
    def deleted(self, request: Request) -> dict[str, Any]:
        window = self.window(self.read_query())
        page = list_deleted_links(workspace_of(request), window)
        urls = [representations.restorable_link(row) for row in page.rows]
        return {"urls": urls, "pagination": self.paginate(page, window)}

    @action(detail=True)
    @returns(200, fields=CHANGE_PAGE)
    def history(self, request: Request, id: str) -> dict[str, Any]:
        query = self.read_query()
        page = link_history(workspace_of(request), id, **query)
        return change_page(page, query["limit"])

    @action(detail=True, methods=["post"])
    @returns(200, "URL restored successfully.", url=representations.WHOLE_URL, has_etag=True)
    def undelete(self, request: Request, id: str) -> tuple[dict[str, Any], Version]:
        owner = workspace_of(request)
        link = services.undelete_link(owner=owner, public_id=id)
        url = representations.whole_link(link, owner, author_of(request))
        return {"url": url}, representations.version_of(link, url)

    @action(detail=True, methods=["post"], url_path="history/<str:changeId>/restore")
    @returns(200, "Change restored successfully.", url=representations.UPDATED_URL, has_etag=True)
    def restore(self, request: Request, id: str, changeId: str) -> tuple[dict[str, Any], Version]:
        restored = restore_change(owner=workspace_of(request), public_id=id, change_id=changeId)
        for name in sorted(restored.skipped):
            warn(request, name, "not_restored", "The history has no value that can be restored.")
        url = representations.updated_link(restored.link, restored.names)
        return {"url": url}, representations.version_of(restored.link, url)


@describe_views
class SavedViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    access = {
        "list": Access(Role.VIEWER, Scope.URLS_READ),
        "retrieve": Access(Role.VIEWER, Scope.URLS_READ),
        "create": Access(Role.EDITOR, Scope.URLS_WRITE),
        "partial_update": Access(Role.EDITOR, Scope.URLS_WRITE),
        "destroy": Access(Role.EDITOR, Scope.URLS_WRITE),
    }
    bodies = {"create": CreateViewSerializer, "partial_update": UpdateViewSerializer}

    @returns(200, views=[representations.saved_view])
    def list(self, request: Request) -> dict[str, Any]:
        views = saved_views.list_views(workspace_of(request))
        return {"views": [representations.saved_view(view) for view in views]}

    @idempotent
    @returns(201, "View created successfully.", view=representations.saved_view)
    def create(self, request: Request) -> dict[str, Any]:
        view = saved_views.create_view(owner=workspace_of(request), **self.read_body())
        return {"view": representations.saved_view(view)}

    @returns(200, view=representations.saved_view)
    def retrieve(self, request: Request, id: str) -> dict[str, Any]:
        return {"view": representations.saved_view(saved_views.get_view(workspace_of(request), id))}

    @returns(200, "View updated successfully.", view=representations.saved_view)
    def partial_update(self, request: Request, id: str) -> dict[str, Any]:
        view = saved_views.change_view(owner=workspace_of(request), public_id=id, changes=self.read_body())
        return {"view": representations.saved_view(view)}

    @returns(200, "View deleted successfully.")
    def destroy(self, request: Request, id: str) -> None:
        saved_views.delete_view(owner=workspace_of(request), public_id=id)
