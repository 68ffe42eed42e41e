"""What operators ban, and the question that is asked of every link that is followed."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

CASCADE = """
ALTER TABLE links_ban ADD CONSTRAINT ban_link FOREIGN KEY (link_id) REFERENCES links_link ON DELETE CASCADE;
"""

# PL/pgSQL, so that an address is taken apart once, and not for each row of the bans.
QUESTIONS = r"""
-- The host of an address as browsers write it, and all that it is below: a.b.example gives a.b.example, b.example, example.
CREATE FUNCTION links_hosts(address text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    labels text[] := string_to_array(
        rtrim(substring(address FROM '^[a-z]+://(\[[^]]*\]|[^/:?#]*)'), '.'), '.'
    );
BEGIN
    RETURN ARRAY(SELECT array_to_string(labels[i:], '.') FROM generate_subscripts(labels, 1) i);
END $$;

CREATE FUNCTION links_is_host_banned(address text) RETURNS boolean LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
    hosts text[];
BEGIN
    IF NOT EXISTS (SELECT FROM links_ban WHERE host IS NOT NULL) THEN
        RETURN false;
    END IF;
    hosts := links_hosts(address);
    RETURN EXISTS (SELECT FROM links_ban WHERE host = ANY(hosts));
END $$;

CREATE FUNCTION links_is_banned(link bigint, owner bigint, destination text) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM links_ban WHERE link_id = link)
        OR EXISTS (SELECT FROM links_ban WHERE owner_id = owner)
        OR links_is_host_banned(destination);
END $$;
"""
QUESTIONS_BACK = "DROP FUNCTION links_is_banned, links_is_host_banned, links_hosts"

# Any number of codes mean something else now. Of each row, as the end of a link that is not banned asks for none.
TELL = """
CREATE FUNCTION links_tell_of_bans() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('destinations', '*');
    RETURN NULL;
END $$;
CREATE TRIGGER links_tell_of_bans AFTER INSERT OR UPDATE OR DELETE ON links_ban
    FOR EACH ROW EXECUTE FUNCTION links_tell_of_bans();
"""
SAY_NOTHING = "DROP TRIGGER links_tell_of_bans ON links_ban; DROP FUNCTION links_tell_of_bans;"


class Migration(migrations.Migration):

    dependencies = [
        ('links', '0004_changes_are_told'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Ban',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('host', models.CharField(blank=True, help_text='Of destinations, with all hosts below it. An address may be pasted, too.', max_length=255, null=True, unique=True)),
                ('reason', models.CharField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('link', models.OneToOneField(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='ban', to='links.link')),
                ('owner', models.OneToOneField(blank=True, help_text="None of the account's links is followed. Disable the account, too, if nobody may use it.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name='ban', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('host__isnull', False), ('link', None), ('owner', None)), models.Q(('host', None), ('link', None), ('owner__isnull', False)), models.Q(('host', None), ('link__isnull', False), ('owner', None)), _connector='OR'), name='ban_of_one_thing')],
            },
        ),
        migrations.RunSQL(CASCADE, "ALTER TABLE links_ban DROP CONSTRAINT ban_link"),
        migrations.RunSQL(QUESTIONS, QUESTIONS_BACK),
        migrations.RunSQL(TELL, SAY_NOTHING),
    ]
