import common.ids
import datetime
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import domains.models
from django.db import migrations, models

from common.migrations import CreateModels, run_sql_files


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0002_initial'),
    ]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name='Domain',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('owner', models.ForeignKey(db_comment='The workspace that claimed the domain.', on_delete=django.db.models.deletion.CASCADE, related_name='domains', to='accounts.workspace')),
                    ('domain', models.CharField(db_comment='As the owner entered it.', max_length=253)),
                    ('subdomain', models.CharField(blank=True, db_comment='As entered; null: the domain itself.', max_length=253, null=True)),
                    ('host', models.CharField(db_comment='Full name: lower case, A-labels.', max_length=253)),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('active', 'Active'), ('inactive', 'Inactive')], db_comment='pending, active (verified) or inactive.', default='pending', max_length=10)),
                    ('root_url', models.TextField(blank=True, db_comment='Where / redirects; null: built-in page.', null=True, verbose_name='URL for the home page')),
                    ('not_found_url', models.TextField(blank=True, db_comment='Where unknown codes redirect; null: 404.', null=True, verbose_name='URL for unknown codes')),
                    ('expired_url', models.TextField(blank=True, db_comment='Where expired links redirect; null: 410.', null=True, verbose_name='URL for expired links')),
                    ('pages', models.JSONField(blank=True, db_comment="The owner's words on pages for visitors, by page: {title, text}, of which one may be null.", db_default=models.Value({}, models.JSONField()), default=dict, verbose_name='own words on pages')),
                    ('app_links', models.JSONField(blank=True, db_comment='Apps that open links. apple: appIds, paths, excludedPaths; android: packageName, fingerprints.', db_default=models.Value({}, models.JSONField()), default=dict, verbose_name='apps that open links')),
                    ('code_length', models.PositiveSmallIntegerField(blank=True, db_comment='Characters of generated codes. Null: that of the workspace.', null=True, validators=[django.core.validators.MinValueValidator(5), django.core.validators.MaxValueValidator(20)], verbose_name='length of generated codes')),
                    ('code_alphabet', models.TextField(blank=True, choices=[('full', 'Full'), ('readable', 'Readable')], db_comment='full or readable, without characters that look alike. Null: that of the workspace.', null=True, verbose_name='alphabet of generated codes')),
                    ('token', models.CharField(db_comment='Token that the owner publishes in DNS.', default=domains.models.new_token, editable=False, max_length=32)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('claimed_until', models.DateTimeField(db_comment='Deadline to verify a pending domain.', db_default=django.db.models.expressions.CombinedExpression(django.db.models.functions.datetime.Now(), '+', models.Value(datetime.timedelta(days=7))), editable=False, verbose_name='to be verified by')),
                    ('recheck_at', models.DateTimeField(db_comment='Next DNS check of an active domain.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('failed_checks', models.PositiveSmallIntegerField(db_comment='Consecutive failed DNS checks.', default=0, editable=False)),
                ],
                options={
                    'db_table_comment': "Customers' domains. The default domain has no row.",
                    'indexes': [models.Index(condition=models.Q(('status', 'active')), fields=['recheck_at'], name='domain_active_recheck_at'), models.Index(condition=models.Q(('status', 'pending')), fields=['claimed_until'], name='domain_pending_until')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'pending'), _negated=True), fields=('host',), name='domain_proven_host_unique'), models.UniqueConstraint(fields=('owner', 'host'), name='domain_claimed_once_by_an_owner'), models.UniqueConstraint(fields=('id', 'owner'), name='domain_with_owner')],
                },
            ),
        ),
        # In this order: a later file may use the functions of an earlier one.
        run_sql_files(
            __file__,
            'history.sql',
            'keys.sql',
            'events.sql',
        ),
    ]
