"""A day's figures of all links, without reading those of other days."""

from django.db import migrations

# A day's rows lie together, as they come: that is what BRIN is for, and it costs the drainer next to nothing.
INDEXES = """
CREATE INDEX daytotal_day ON analytics_daytotal USING brin (day) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX daycount_outcome_day ON analytics_daycount (day) WHERE dimension = 7;
"""
BACK = "DROP INDEX daytotal_day; DROP INDEX daycount_outcome_day;"


class Migration(migrations.Migration):
    dependencies = [("analytics", "0001_initial")]

    operations = [migrations.RunSQL(INDEXES, BACK)]
