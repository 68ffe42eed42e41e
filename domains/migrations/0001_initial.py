import common.ids
import datetime
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import domains.models
from django.conf import settings
from django.db import migrations, models


HISTORY = """
CREATE FUNCTION domains_fields(domain domains_domain) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN jsonb_build_object(
        'status', domain.status, 'rootUrl', domain.root_url, 'notFoundUrl', domain.not_found_url,
        'expiredUrl', domain.expired_url
    );
END $$;

CREATE FUNCTION domains_record_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM accounts_record_change(
            NEW.owner_id, NEW.public_id, 'domain.created', '{}', jsonb_build_object('fullDomain', NEW.host)
        );
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM accounts_record_change(
            OLD.owner_id, OLD.public_id, 'domain.deleted',
            domains_fields(OLD) || jsonb_build_object('fullDomain', OLD.host), '{}'
        );
    ELSE
        PERFORM accounts_record_change(
            NEW.owner_id, NEW.public_id, 'domain.updated',
            accounts_differences(domains_fields(OLD), domains_fields(NEW)),
            accounts_differences(domains_fields(NEW), domains_fields(OLD))
        );
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER domains_record_change AFTER INSERT OR DELETE ON domains_domain
    FOR EACH ROW EXECUTE FUNCTION domains_record_change();
-- The history does not record the times of checks.
CREATE TRIGGER domains_record_update AFTER UPDATE ON domains_domain FOR EACH ROW WHEN (
    (OLD.status, OLD.root_url, OLD.not_found_url, OLD.expired_url) IS DISTINCT FROM
    (NEW.status, NEW.root_url, NEW.not_found_url, NEW.expired_url)
) EXECUTE FUNCTION domains_record_change();
"""
HISTORY_BACK = """
DROP FUNCTION domains_record_change CASCADE;
DROP FUNCTION domains_fields;
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Domain',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('public_id', models.UUIDField(default=common.ids.new_public_id, editable=False, unique=True, db_comment='API id.')),
                ('domain', models.CharField(max_length=253, db_comment='As the owner entered it.')),
                ('subdomain', models.CharField(blank=True, max_length=253, null=True, db_comment='As entered; null: the domain itself.')),
                ('host', models.CharField(max_length=253, db_comment='Full name: lower case, A-labels.')),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('active', 'Active'), ('inactive', 'Inactive')], default='pending', max_length=10, db_comment='pending, active (verified) or inactive.')),
                ("root_url", models.TextField(blank=True, null=True, db_comment='Where / redirects; null: built-in page.')),
                ("not_found_url", models.TextField(blank=True, null=True, db_comment='Where unknown codes redirect; null: 404.')),
                ("expired_url", models.TextField(blank=True, null=True, db_comment='Where expired links redirect; null: 410.')),
                ('token', models.CharField(default=domains.models.new_token, editable=False, max_length=32, db_comment='Token that the owner publishes in DNS.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, db_comment='Creation time.')),
                ('claimed_until', models.DateTimeField(db_default=django.db.models.expressions.CombinedExpression(django.db.models.functions.datetime.Now(), '+', models.Value(datetime.timedelta(days=7))), editable=False, db_comment='Deadline to verify a pending domain.')),
                ('recheck_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, db_comment='Next DNS check of an active domain.')),
                ('failed_checks', models.PositiveSmallIntegerField(default=0, editable=False, db_comment='Consecutive failed DNS checks.')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='domains', to=settings.AUTH_USER_MODEL, db_comment='The account that claimed the domain.')),
            ],
            options={
                'db_table_comment': "Customers' domains. The default domain has no row.",
                'indexes': [models.Index(condition=models.Q(('status', 'active')), fields=['recheck_at'], name='domain_active_recheck_at'), models.Index(condition=models.Q(('status', 'pending')), fields=['claimed_until'], name='domain_pending_until')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'pending'), _negated=True), fields=('host',), name='domain_proven_host_unique'), models.UniqueConstraint(fields=('owner', 'host'), name='domain_claimed_once_by_an_owner')],
            },
        ),
        migrations.RunSQL(HISTORY, HISTORY_BACK),
    ]
