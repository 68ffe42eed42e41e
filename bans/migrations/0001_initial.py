import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

# In PL/pgSQL, so that a URL is parsed once and not for every row of the table.
HOSTS = r"""
-- The host of a canonical URL and all domains above it: a.b.example gives a.b.example, b.example and example.
-- An IPv4 address in IPv6 form, such as [::ffff:c000:207], also gives the address itself: 192.0.2.7.
CREATE FUNCTION bans_hosts_of(url text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    host text := rtrim(substring(url FROM '^[a-z]+://(\[[^]]*\]|[^/:?#]*)'), '.');
    labels text[] := string_to_array(host, '.');
    words text[] := regexp_match(host, '^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$');
    bytes bytea;
BEGIN
    IF words IS NOT NULL THEN
        bytes := decode(lpad(words[1], 4, '0') || lpad(words[2], 4, '0'), 'hex');
        RETURN ARRAY[host, concat_ws(
            '.', get_byte(bytes, 0), get_byte(bytes, 1), get_byte(bytes, 2), get_byte(bytes, 3)
        )];
    END IF;
    RETURN ARRAY(SELECT array_to_string(labels[i:], '.') FROM generate_subscripts(labels, 1) i);
END $$;

CREATE FUNCTION bans_is_host_banned(url text) RETURNS boolean LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
    hosts text[];
BEGIN
    IF NOT EXISTS (SELECT FROM bans_ban WHERE host IS NOT NULL) THEN
        RETURN false;
    END IF;
    hosts := bans_hosts_of(url);
    RETURN EXISTS (SELECT FROM bans_ban WHERE host = ANY(hosts));
END $$;
"""
HOSTS_REVERSE = "DROP FUNCTION bans_is_host_banned, bans_hosts_of"


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Ban',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('host', models.CharField(blank=True, help_text='Canonical destination host. The ban includes its subdomains.', max_length=255, null=True, unique=True, db_comment='Banned host with its subdomains; null: a ban of an account.')),
                ('reason', models.CharField(blank=True, max_length=500, db_comment="The operator's note.")),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, db_comment='Creation time.')),
                ('owner', models.OneToOneField(blank=True, help_text="Blocks all of the account's links. To block sign-in, disable the account, too.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name='ban', to=settings.AUTH_USER_MODEL, db_comment='Account whose links are banned; null: a ban of a host.')),
            ],
            options={
                'db_table_comment': "Operators' bans of destination hosts and of accounts' links.",
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('host__isnull', False), ('owner', None)), models.Q(('host', None), ('owner__isnull', False)), _connector='OR'), name='ban_of_host_or_owner'), models.CheckConstraint(condition=models.Q(('host', None), ('host__regex', '^(\\[[0-9a-f:.]+\\]|[a-z0-9_-]{1,63}(\\.[a-z0-9_-]{1,63})+)$'), _connector='OR'), name='ban_host_canonical', violation_error_message='Not a canonical host.')],
            },
        ),
        migrations.RunSQL(HOSTS, HOSTS_REVERSE),
    ]
