import accounts.models
import common.ids
import datetime
import django.core.validators
import django.contrib.postgres.fields
import django.contrib.postgres.functions
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

from common.migrations import CreateModels, run_sql_files


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('account', '0009_emailaddress_unique_primary_email'),
        ('accounts', '0001_initial'),
        ('admin', '0003_logentry_add_action_flag_choices'),
        ('mfa', '0003_authenticator_type_uniq'),
        ('sessions', '0001_initial'),
        ('socialaccount', '0006_alter_socialaccount_extra_data'),
    ]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name='ApiKey',
                fields=[
                    ('user', models.OneToOneField(db_comment='The account. It has one key.', on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='api_key', serialize=False, to=settings.AUTH_USER_MODEL)),
                    ('digest', models.BinaryField(db_comment='SHA-256 digest, for lookup.', max_length=32, unique=True)),
                    ('sealed', models.BinaryField(db_comment='The key, encrypted for its owner.', max_length=128)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now())),
                    ('read_at', models.DateTimeField(db_comment='When its owner first read it. Null: not yet.', null=True)),
                ],
                options={
                    'db_table_comment': 'The API key of each account.',
                },
            ),
            migrations.CreateModel(
                name='PasskeyHandle',
                fields=[
                    ('user', models.OneToOneField(db_comment='The account.', on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='passkey_handle', serialize=False, to=settings.AUTH_USER_MODEL)),
                    ('handle', models.BinaryField(db_comment='Random. Reveals nothing about the account.', default=accounts.models.new_handle, max_length=64, unique=True)),
                ],
                options={
                    'db_table_comment': 'User handles of passkeys.',
                },
            ),
            migrations.CreateModel(
                name='Session',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='Id in tokens and in the API.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('user', models.ForeignKey(db_comment='The account.', on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                    ('password_fingerprint', models.CharField(db_comment='Digest of the password hash under which its tokens are valid.', max_length=32)),
                    ('generation', models.IntegerField(db_comment='Number of the current tokens. Each refresh adds 1.', default=1)),
                    ('issued_at', models.DateTimeField(db_comment='When the current tokens were issued, by the clock of the host that issued them.')),
                    ('rotated_at', models.DateTimeField(db_comment='The same by the clock of the database, for the grace period.', db_default=django.db.models.functions.datetime.Now())),
                    ('created_at', models.DateTimeField(db_comment='Time of the login.', db_default=django.db.models.functions.datetime.Now())),
                    ('last_used_at', models.DateTimeField(db_comment='Last use, exact to a minute.', db_default=django.db.models.functions.datetime.Now())),
                    ('user_agent', models.CharField(blank=True, db_comment='User-Agent of the login, shortened.', max_length=200)),
                    ('browser_session', models.CharField(db_comment='The django_session of the browser that it belongs to; null: it began with a login to the API.', max_length=40, null=True, unique=True)),
                    ('confirmed_at', models.DateTimeField(db_comment='When the user of a browser last logged in or confirmed it again. Null: at the login.', null=True)),
                    ('expires_at', models.DateTimeField(db_comment='When its refresh tokens expire.', db_index=True)),
                    ('ended_at', models.DateTimeField(db_comment='When it ended early. No token works since.', null=True)),
                    ('end_reason', models.CharField(choices=[('logout', 'Logout'), ('revoked', 'Ended from another session'), ('password', 'Change of password'), ('reuse', 'A refresh token was used twice'), ('limit', 'Too many sessions')], db_comment='logout, revoked, password, reuse or limit.', max_length=10, null=True)),
                ],
                options={
                    'db_table_comment': 'Sessions of the API. Those of browsers are in django_session.',
                    'indexes': [models.Index(condition=models.Q(('ended_at', None)), fields=['user', 'id'], name='session_live'), models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['ended_at'], name='session_ended')],
                },
            ),
            migrations.CreateModel(
                name='Workspace',
                fields=[
                    ('id', models.BigIntegerField(db_comment='Internal key, from the sequence of the accounts.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('account', models.OneToOneField(blank=True, db_comment="The account of a personal workspace. Null: a team's workspace.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name='workspace', to=settings.AUTH_USER_MODEL)),
                    ('name', models.CharField(db_comment='For people.', max_length=100)),
                    ('team_plan', models.CharField(blank=True, choices=[('free', 'Free'), ('pro', 'Pro'), ('enterprise', 'Enterprise')], db_column='plan', db_comment='free, pro or enterprise. Null: a personal workspace has the plan of its account.', max_length=10, null=True, verbose_name='plan')),
                    ('ignored_networks', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=43), blank=True, db_comment='Networks whose visits do not count. Canonical form.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=43), size=None)), default=list, size=None)),
                    ('health_check', models.TextField(choices=[('off', 'Off'), ('weekly', 'Weekly'), ('daily', 'Daily')], db_comment='How often destinations are checked of links that do not say it: off, weekly or daily.', db_default='off', default='off')),
                    ('code_length', models.PositiveSmallIntegerField(blank=True, db_comment='Characters of generated codes. Null: 7.', null=True, validators=[django.core.validators.MinValueValidator(5), django.core.validators.MaxValueValidator(20)], verbose_name='length of generated codes')),
                    ('code_alphabet', models.TextField(blank=True, choices=[('full', 'Full'), ('readable', 'Readable')], db_comment='full or readable, without characters that look alike. Null: full.', null=True, verbose_name='alphabet of generated codes')),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ],
                options={
                    'db_table_comment': 'Workspaces: the owners of links, domains and QR codes.',
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('account', models.F('id')), ('account__isnull', False), ('team_plan', None)), models.Q(('account', None), ('team_plan__isnull', False)), _connector='OR'), name='workspace_personal_or_team')],
                },
            ),
            migrations.CreateModel(
                name='StoredResponse',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('owner', models.ForeignKey(db_comment='The personal workspace of the account that sent the request, or the workspace of its key.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.workspace')),
                    ('key_digest', models.BinaryField(db_comment='Digest of the Idempotency-Key.', max_length=32)),
                    ('sealed', models.BinaryField(db_comment='The response, encrypted.')),
                    ('created_at', models.DateTimeField(db_comment='When the request was committed.', db_default=django.db.models.functions.datetime.Now(), db_index=True)),
                ],
                options={
                    'db_table_comment': 'Stored responses to requests with an Idempotency-Key.',
                    'constraints': [models.UniqueConstraint(fields=('owner', 'key_digest'), name='idempotent_once')],
                },
            ),
            migrations.CreateModel(
                name='LoggedRequest',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('owner', models.ForeignKey(db_comment='The workspace in which the key acted.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.workspace')),
                    ('key_id', models.UUIDField(db_comment="API id of the key with scopes; it may be deleted. Null: an account's own key.", null=True)),
                    ('method', models.CharField(db_comment='HTTP method.', max_length=10)),
                    ('route', models.CharField(db_comment="Path in the API's description: /api/urls/{id}.", max_length=200)),
                    ('status', models.PositiveSmallIntegerField(db_comment='HTTP status.')),
                    ('code', models.CharField(db_comment='Code of the error. Null: without an error.', max_length=60, null=True)),
                    ('request_id', models.CharField(db_comment='X-Request-ID.', max_length=64)),
                    ('milliseconds', models.FloatField(db_comment='How long the service took.')),
                    ('responded_at', models.DateTimeField(db_comment='Time of the response.')),
                ],
                options={
                    'db_table_comment': 'API requests of keys.',
                    'indexes': [models.Index(fields=['owner', 'id'], name='loggedrequest_owner')],
                },
            ),
            migrations.CreateModel(
                name='HistorySize',
                fields=[
                    ('owner', models.OneToOneField(db_comment='The workspace.', db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='accounts.workspace')),
                    ('bytes', models.BigIntegerField(db_comment='At least the bytes of its changes up to counted_to.')),
                    ('counted_to', models.BigIntegerField(db_comment='The last change that was added to bytes.')),
                ],
                options={
                    'db_table_comment': 'About the size of the history of each workspace, for housekeeping.',
                },
            ),
            migrations.CreateModel(
                name='Change',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', db_default=django.contrib.postgres.functions.RandomUUID(), editable=False)),
                    ('owner', models.ForeignKey(db_comment='Owner of the changed object.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.workspace')),
                    ('changed_at', models.DateTimeField(db_comment='Time of the change.', db_default=django.db.models.functions.datetime.Now())),
                    ('actor', models.ForeignKey(db_comment="The account that made the change; it may be deleted. Null: the service or a workspace's key.", db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('via', models.CharField(choices=[('api_key', 'api_key'), ('token', 'token'), ('operator', 'operator'), ('page', 'page'), ('service', 'service')], db_comment='api_key, token, operator (in the admin), page (under /accounts/) or service.', max_length=10)),
                    ('key_id', models.UUIDField(db_comment='API id of the key with scopes that the actor used; it may be deleted.', null=True)),
                    ('token_issuer', models.TextField(db_comment='The iss of the token that acted as the key. Null: the key itself.', null=True)),
                    ('token_subject', models.TextField(db_comment='The sub of that token.', null=True)),
                    ('request_id', models.CharField(db_comment='X-Request-ID; empty without a request.', max_length=64)),
                    ('trace_id', models.CharField(db_comment='The trace of the traceparent from a trusted proxy. Null: none.', max_length=32, null=True)),
                    ('object_id', models.UUIDField(db_comment='API id of the changed object; it may be deleted.')),
                    ('action', models.CharField(db_comment='Kind of object and of change: link.updated.', max_length=40)),
                    ('before', models.JSONField(db_comment='Former values of the changed fields.')),
                    ('after', models.JSONField(db_comment='New values of the changed fields.')),
                ],
                options={
                    'db_table_comment': 'Who changed what: one row for each change.',
                    'indexes': [models.Index(fields=['owner', 'id'], name='change_owner'), models.Index(fields=['owner', 'actor', 'id'], name='change_owner_actor'), models.Index(fields=['owner', 'action', 'id'], name='change_owner_action'), models.Index(fields=['object_id', 'id'], name='change_object')],
                },
            ),
            migrations.CreateModel(
                name='StorageLimit',
                fields=[
                    ('plan', models.CharField(choices=[('free', 'Free'), ('pro', 'Pro'), ('enterprise', 'Enterprise')], db_comment='free, pro or enterprise.', max_length=10, primary_key=True, serialize=False)),
                    ('bytes', models.BigIntegerField(db_comment='Stored bytes that the plan allows.')),
                ],
                options={
                    'db_table_comment': 'STORAGE_MB_* of the host that started last, for triggers. No row: no limit.',
                },
            ),
            migrations.CreateModel(
                name='Member',
                fields=[
                    ('pk', models.CompositePrimaryKey('workspace', 'user', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('workspace', models.ForeignKey(db_comment='The workspace.', db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='members', to='accounts.workspace')),
                    ('user', models.ForeignKey(db_comment='The account.', on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ('role', models.CharField(choices=[('viewer', 'Viewer'), ('editor', 'Editor'), ('admin', 'Admin'), ('owner', 'Owner')], db_comment='viewer, editor, admin or owner.', max_length=10)),
                    ('created_at', models.DateTimeField(db_comment='When the account joined.', db_default=django.db.models.functions.datetime.Now())),
                ],
                options={
                    'db_table_comment': 'Members of workspaces and their roles.',
                },
            ),
            migrations.CreateModel(
                name='Invitation',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('workspace', models.ForeignKey(db_comment='The workspace.', on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='accounts.workspace')),
                    ('role', models.CharField(choices=[('viewer', 'Viewer'), ('editor', 'Editor'), ('admin', 'Admin'), ('owner', 'Owner')], db_comment='The role of whoever accepts it.', max_length=10)),
                    ('email', models.EmailField(blank=True, db_comment='The account that may accept it, in lower case. Empty: any.', max_length=254)),
                    ('digest', models.BinaryField(db_comment='SHA-256 digest of the token.', max_length=32, unique=True)),
                    ('invited_by', models.ForeignKey(db_comment='The member who invited.', on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('expires_at', models.DateTimeField(db_comment='When the token expires.', db_default=django.db.models.expressions.CombinedExpression(django.db.models.functions.datetime.Now(), '+', models.Value(datetime.timedelta(days=7))), editable=False)),
                ],
                options={
                    'db_table_comment': 'Pending invitations to workspaces.',
                },
            ),
            migrations.CreateModel(
                name='ScopedKey',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('workspace', models.ForeignKey(db_comment='The workspace in which it acts.', db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='keys', to='accounts.workspace')),
                    ('user', models.ForeignKey(db_comment='The member who created it, and for whom it acts. Null: it belongs to the workspace.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='scoped_keys', to=settings.AUTH_USER_MODEL)),
                    ('name', models.CharField(db_comment='For people.', max_length=100)),
                    ('scopes', models.PositiveSmallIntegerField(db_comment='One bit for each scope, in the order of their list.')),
                    ('domain_id', models.BigIntegerField(db_comment='Limits it to the links on this domain. Null: any domain.', null=True)),
                    ('only_own', models.BooleanField(db_comment='Whether it is limited to the links that it created.')),
                    ('digest', models.BinaryField(db_comment='SHA-256 digest, for lookup. Null: tokens of the issuer act as the key.', max_length=32, null=True, unique=True)),
                    ('issuer', models.TextField(db_comment='URL that tokens have as iss. Null: the key has a digest.', null=True)),
                    ('audience', models.TextField(db_comment='What tokens have as aud.', null=True)),
                    ('subject', models.TextField(db_comment='What tokens have as sub; * stands for any characters.', null=True)),
                    ('jwks', models.JSONField(db_comment='Public keys of the issuer (RFC 7517). Null: the issuer publishes them.', null=True)),
                    ('previous_digest', models.BinaryField(db_comment='Digest of the key before its rotation, while that one works.', max_length=32, null=True)),
                    ('previous_until', models.DateTimeField(db_comment='When the former key stops working.', null=True)),
                    ('expires_at', models.DateTimeField(db_comment='When the key expires. Null: never.', null=True)),
                    ('last_used_at', models.DateTimeField(db_comment='Last use, exact to a minute. Null: never.', null=True)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ],
                options={
                    'db_table_comment': 'API keys with scopes. Each has the digest of its key only, or an issuer of tokens.',
                    'indexes': [models.Index(fields=['workspace', 'user'], name='scopedkey_membership')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('previous_digest__isnull', False)), fields=('previous_digest',), name='scopedkey_previous_digest'), models.CheckConstraint(condition=models.Q(models.Q(('previous_digest', None), ('previous_until', None)), models.Q(('previous_digest__isnull', False), ('previous_until__isnull', False)), _connector='OR'), name='scopedkey_grace'), models.UniqueConstraint(condition=models.Q(('issuer__isnull', False)), fields=('issuer', 'audience', 'subject', 'workspace'), name='scopedkey_issuer'), models.CheckConstraint(condition=models.Q(models.Q(('audience', None), ('digest__isnull', False), ('issuer', None), ('jwks__isnull', True), ('subject', None)), models.Q(('audience__isnull', False), ('digest', None), ('issuer__isnull', False), ('previous_digest', None), ('subject__isnull', False)), _connector='OR'), name='scopedkey_text_or_issuer')],
                },
            ),
        ),
        # In this order: a later file may use the functions of an earlier one.
        run_sql_files(
            __file__,
            'comments.sql',
            'foreign_keys.sql',
            'workspaces.sql',
            'shared_limits.sql',
            'history.sql',
            'identities.sql',
        ),
    ]
