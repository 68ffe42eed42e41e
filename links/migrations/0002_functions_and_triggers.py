"""Functions, triggers and tables that Django cannot express. `sql/0002_*.sql` contains one file for each subject.

Once released, a file in `sql/` never changes. A later migration adds files of its own number.
"""

from pathlib import Path

from django.db import migrations

# In this order: a later file may use the functions of an earlier one.
SUBJECTS = (
    "search",
    "totals",
    "tag_totals",
    "routes",
    "immutable_columns",
    "domain_deletion",
    "cascades",
    "bans",
    "visitor_clicks",
    "notifications",
    "history",
    "deleted_links",
)

# CASCADE drops the triggers and the search index, too.
REVERSE = """
DROP FUNCTION links_after_final_deletion, links_record_undeletion, links_record_deletion, links_all_fields, links_record_change, links_domain_id, links_fields, links_shown_branches,
    links_moment, links_notify_ban_changes, links_notify_domain_changes, links_notify_code_changes,
    links_notify_link_changes, links_codes_of, links_notify, links_delete_visitors, links_claim_click, links_is_banned,
    links_ban_reason, links_move_to_default_domain, links_refuse_rewrite, links_record_routes, links_branches,
    links_delete_unused_tag, links_tags_after_delete,
    links_tags_after_update, links_tags_after_insert, links_clicks_after_delete, links_clicks_after_update,
    links_after_delete, links_after_update, links_after_insert, links_searchable_after_truncate, links_hint, links_keys,
    links_period, links_content, links_other_urls CASCADE;
ALTER TABLE links_visitorclicks DROP CONSTRAINT visitorclicks_key;
DROP INDEX links_owner_title;
DROP TABLE links_searchable;
"""


def sql() -> str:
    folder = Path(__file__).with_name("sql")
    return "\n".join((folder / f"0002_{subject}.sql").read_text() for subject in SUBJECTS)


class Migration(migrations.Migration):

    dependencies = [("links", "0001_initial"), ("bans", "0001_initial"), ("domains", "0001_initial")]

    operations = [migrations.RunSQL(sql(), REVERSE)]
