from django.db import migrations, models

# The former visitors were those of two days at most. They count as unique once more if they come back.
TABLE = """
DROP TABLE analytics_dayvisitor;
CREATE TABLE analytics_visitorblock (
    link_id bigint NOT NULL,
    first bigint NOT NULL,
    day date NOT NULL,
    is_divided boolean NOT NULL,
    hashes bytea NOT NULL,
    CONSTRAINT analytics_visitorblock_pkey PRIMARY KEY (link_id, day, first)
) WITH (fillfactor = 90);
-- Hashes cannot be compressed, and a block is too small for a place of its own.
ALTER TABLE analytics_visitorblock ALTER COLUMN hashes SET STORAGE EXTERNAL;
COMMENT ON TABLE analytics_visitorblock IS 'Visitors of each link and day (UTC), as blocks of keyed hashes.';
COMMENT ON COLUMN analytics_visitorblock.link_id IS 'Link; it may be deleted.';
COMMENT ON COLUMN analytics_visitorblock.first IS
    'The block has the hashes from this number on, up to the first of the next block.';
COMMENT ON COLUMN analytics_visitorblock.day IS 'Day (UTC).';
COMMENT ON COLUMN analytics_visitorblock.is_divided IS 'Whether the link has several blocks that day.';
COMMENT ON COLUMN analytics_visitorblock.hashes IS 'Hashes of 64 bits, little-endian, in any order.';
"""


class Migration(migrations.Migration):

    dependencies = [('analytics', '0002_one_row_per_link_and_day')]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(TABLE)],
            state_operations=[
                migrations.DeleteModel('DayVisitor'),
                migrations.CreateModel(
                    name='VisitorBlock',
                    fields=[
                        ('pk', models.CompositePrimaryKey('link_id', 'day', 'first', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                        ('first', models.BigIntegerField(db_comment='The block has the hashes from this number on, up to the first of the next block.')),
                        ('day', models.DateField(db_comment='Day (UTC).')),
                        ('is_divided', models.BooleanField(db_comment='Whether the link has several blocks that day.')),
                        ('hashes', models.BinaryField(db_comment='Hashes of 64 bits, little-endian, in any order.')),
                    ],
                    options={
                        'db_table_comment': 'Visitors of each link and day (UTC), as blocks of keyed hashes.',
                    },
                ),
            ],
        ),
    ]
