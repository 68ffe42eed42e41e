"""Operations of migrations that Django lacks: many tables at once, and SQL from files."""

from __future__ import annotations

from pathlib import Path

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import RunSQL
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class CreateModels(Operation):
    """Creates the tables of an app.

    After each CreateModel on its own, Django makes classes of all related models again, which took most of the time of
    the first start. Here it makes those of the new models only, once all of them are known.
    """

    reversible = False

    def __init__(self, *operations: Operation) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        # The classes are a cached property, which Django would renew with each model.
        apps = state.__dict__.pop("apps", None)
        known = set(state.models)
        for operation in self.operations:
            operation.state_forwards(app_label, state)
        if apps is not None:
            apps.render_multiple([model for key, model in state.models.items() if key not in known])
            state.__dict__["apps"] = apps

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return "Create models"


def run_sql_files(migration: str, *names: str) -> RunSQL:
    """Run the files ``sql/<name>`` beside the migration. The start compares their texts with those that ran."""
    folder = Path(migration).with_name("sql")
    return RunSQL("\n".join((folder / name).read_text() for name in names))
