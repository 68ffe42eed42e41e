"""Creates, changes, deletes and applies the UTM templates of a workspace.

A link does not remember its template: the template decides about the call that names it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any
from uuid import UUID

from django.dispatch import receiver

from accounts.caps import lock_count
from accounts.history import name_author
from accounts.models import Workspace
from accounts.workspaces import workspace_deleted
from common.database import in_one_transaction, refusing
from common.errors import Conflict, FieldError, Forbidden, InvalidFields, NotFound
from common.ids import find_by_public_id, parse_public_id
from links.destinations.utm import utm_in
from links.models import Link, UtmTemplate
from links.routing.addresses import addresses_of, kept_urls

MAX_TEMPLATES = 50
# The constraint that keeps names unique.
_NAME = "utmtemplate_owner_name"


class TooManyTemplates(Forbidden):
    code = "quota_exceeded"
    message = f"A workspace may have at most {MAX_TEMPLATES} UTM templates. Delete one first."


class TemplateExists(Conflict):
    code = "utm_template_exists"
    message = "The workspace has a UTM template with this name already."


def template_not_found() -> NotFound:
    return NotFound("UTM template not found.")


def list_templates(owner: Workspace) -> list[UtmTemplate]:
    """All of them, by name."""
    return list(UtmTemplate.objects.filter(owner=owner).order_by("name"))


def get_template(owner: Workspace, public_id: str, *, lock: bool = False) -> UtmTemplate:
    """``lock`` blocks other writers until the commit. Raises NotFound."""
    templates = UtmTemplate.objects.select_for_update() if lock else UtmTemplate.objects.all()
    template = find_by_public_id(templates.filter(owner=owner), public_id)
    if template is None:
        raise template_not_found()
    return template


def create_template(*, owner: Workspace, **fields: Any) -> UtmTemplate:
    """Raises InvalidFields, TooManyTemplates or TemplateExists."""
    template = UtmTemplate(owner=owner, **fields)
    _refuse_contradiction(template)

    def work() -> None:
        name_author()
        lock_count(owner)
        if UtmTemplate.objects.filter(owner=owner).count() >= MAX_TEMPLATES:
            raise TooManyTemplates
        template.save(force_insert=True)

    with refusing(_NAME, TemplateExists()):
        in_one_transaction(work)
    template.refresh_from_db(fields=["created_at", "updated_at"])
    return template


def change_template(*, owner: Workspace, public_id: str, changes: Mapping[str, Any]) -> UtmTemplate:
    """Raises NotFound, InvalidFields or TemplateExists."""

    def work() -> UtmTemplate:
        name_author()
        template = get_template(owner, public_id, lock=True)
        for name, value in changes.items():
            setattr(template, name, value)
        _refuse_contradiction(template)
        template.save(update_fields=[*changes, "updated_at"])
        return template

    with refusing(_NAME, TemplateExists()):
        return in_one_transaction(work)


def delete_template(*, owner: Workspace, public_id: str) -> None:
    """Raises NotFound."""

    def work() -> None:
        name_author()
        get_template(owner, public_id, lock=True).delete()

    in_one_transaction(work)


@receiver(workspace_deleted)
def _delete_with_workspace(workspace: Workspace, **_: Any) -> None:
    """A cascade would record the deletions in the history after that has been deleted."""
    UtmTemplate.objects.filter(owner=workspace).delete()


class Templates:
    """Applies the templates of a workspace, each of which it reads once. ``known`` are read already.

    ``changed``: the ids of the links that the call changes, which are read if one of the changes names a template.
    """

    def __init__(
        self, owner: Workspace, known: Iterable[UtmTemplate] = (), *, changed: Iterable[str] = ()
    ) -> None:
        self._owner = owner
        self._changed = changed
        self._known: dict[str, UtmTemplate | None] = {str(template.public_id): template for template in known}

    def apply(self, fields: Mapping[str, Any], public_id: str | None = None) -> dict[str, Any]:
        """The fields of a link without ``utm_template_id``, and with the utm parameters of that template.

        Values of the request replace those of the template. ``public_id``: the link that they change. Raises NotFound
        or InvalidFields, also for parameters that a destination itself has, as visitors get them.
        """
        remaining = dict(fields)
        template_id = remaining.pop("utm_template_id", None)
        if template_id is not None:
            template = self._template(template_id)
            utm = {**template.values, **(remaining.get("utm") or {})}
            required = template.values.keys() & template.allowed.keys()
            refuse_other_values(template, utm, "utm", required)
            urls = [
                (address.field, address.destination.href)
                for address in addresses_of(remaining)
                if not address.field.startswith("preview.")
            ]
            if (link := self._links.get(parse_public_id(public_id or ""))) is not None:
                urls += kept_urls(link, remaining)
            _refuse_destinations(template, utm, urls)
            remaining["utm"] = utm
        return remaining

    @cached_property
    def _links(self) -> dict[UUID | None, Link]:
        identifiers = [identifier for text in self._changed if (identifier := parse_public_id(text))]
        links = Link.objects.visible_to(self._owner).filter(public_id__in=identifiers) if identifiers else ()
        return {link.public_id: link for link in links}

    def _template(self, public_id: str) -> UtmTemplate:
        if public_id not in self._known:
            templates = UtmTemplate.objects.filter(owner=self._owner)
            self._known[public_id] = find_by_public_id(templates, public_id)
        template = self._known[public_id]
        if template is None:
            raise template_not_found()
        return template


def refuse_other_values(
    template: UtmTemplate, utm: Mapping[str, str | None], field: str, required: Collection[str] = ()
) -> None:
    """Raises InvalidFields if a parameter has a value that the template does not allow, or a required one has none."""
    errors = [
        _not_allowed(template, f"{field}.{key}", key)
        for key, allowed in template.allowed.items()
        if (utm.get(key) or key in required) and utm.get(key) not in allowed
    ]
    if errors:
        raise InvalidFields(errors)


def _refuse_destinations(
    template: UtmTemplate, utm: Mapping[str, str | None], urls: Iterable[tuple[str, str]]
) -> None:
    """A parameter of the link replaces that of its destination, which visitors get otherwise."""
    errors = {
        _not_allowed(template, field, key, f" as utm_{key}"): None
        for field, url in urls
        for key, value in utm_in(url)
        if not utm.get(key) and value not in template.allowed.get(key, [value])
    }
    if errors:
        raise InvalidFields(errors)


def _not_allowed(template: UtmTemplate, field: str, key: str, role: str = "") -> FieldError:
    values = _listed(template.allowed[key])
    return FieldError(field, "not_allowed", f"The template {template.name} allows only {values}{role}.")


def _refuse_contradiction(template: UtmTemplate) -> None:
    refuse_other_values(template, template.values, "values")


def _listed(values: list[str]) -> str:
    *others, last = values
    return f"{', '.join(others)} and {last}" if others else last
