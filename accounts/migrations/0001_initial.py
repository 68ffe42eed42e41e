import common.ids
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.contrib.postgres.functions import RandomUUID
from django.db import migrations, models

# Columns and tables that Django's base classes declare.
COMMENTS = """
COMMENT ON COLUMN accounts_user.password IS 'Argon2 hash.';
COMMENT ON COLUMN accounts_user.last_login IS 'Last login to the pages.';
COMMENT ON COLUMN accounts_user.is_superuser IS 'Whether the account has every permission in the admin.';
COMMENT ON TABLE accounts_user_groups IS 'Groups of accounts with permissions in the admin.';
COMMENT ON COLUMN accounts_user_groups.id IS 'Internal key.';
COMMENT ON COLUMN accounts_user_groups.user_id IS 'The account.';
COMMENT ON COLUMN accounts_user_groups.group_id IS 'The group.';
COMMENT ON TABLE accounts_user_user_permissions IS 'Permissions of accounts in the admin.';
COMMENT ON COLUMN accounts_user_user_permissions.id IS 'Internal key.';
COMMENT ON COLUMN accounts_user_user_permissions.user_id IS 'The account.';
COMMENT ON COLUMN accounts_user_user_permissions.permission_id IS 'The permission.';
"""

HISTORY = """
-- Writes a row of the history in the caller's transaction. By default, its author is that of the transaction, and its
-- time is that of the statement.
CREATE FUNCTION accounts_record_change(
    owner bigint, object uuid, action text, before jsonb, after jsonb,
    author jsonb DEFAULT nullif(current_setting('history.author', true), '')::jsonb,
    changed_at timestamptz DEFAULT statement_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO accounts_change (owner_id, object_id, action, before, after, actor_id, via, key_id, request_id, changed_at)
    VALUES (
        owner, object, action, before, after,
        (author ->> 'actor')::bigint, coalesce(author ->> 'via', 'service'), (author ->> 'key')::uuid,
        coalesce(author ->> 'request', ''), changed_at
    );
END $$;

-- The fields that have another value in ``others``.
CREATE FUNCTION accounts_differences(fields jsonb, others jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(fields)
        WHERE value IS DISTINCT FROM others -> key
    );
END $$;

-- The settings of an account. Services record new passwords: a stored hash also changes when a login renews it.
CREATE FUNCTION accounts_fields(account accounts_user) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN jsonb_build_object(
        'firstName', account.first_name, 'lastName', account.last_name, 'plan', account.plan,
        'isActive', account.is_active, 'isStaff', account.is_staff, 'isSuperuser', account.is_superuser
    );
END $$;

CREATE FUNCTION accounts_record_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before jsonb := accounts_differences(accounts_fields(OLD), accounts_fields(NEW));
    after jsonb := accounts_differences(accounts_fields(NEW), accounts_fields(OLD));
BEGIN
    IF OLD.email <> NEW.email THEN
        before := before || '{"email": null}';
        after := after || '{"email": "changed"}';
    END IF;
    PERFORM accounts_record_change(NEW.id, NEW.public_id, 'account.updated', before, after);
    RETURN NULL;
END $$;
CREATE TRIGGER accounts_record_account_change AFTER UPDATE ON accounts_user FOR EACH ROW WHEN (
    (OLD.email, OLD.first_name, OLD.last_name, OLD.plan, OLD.is_active, OLD.is_staff, OLD.is_superuser) IS DISTINCT FROM
    (NEW.email, NEW.first_name, NEW.last_name, NEW.plan, NEW.is_active, NEW.is_staff, NEW.is_superuser)
) EXECUTE FUNCTION accounts_record_account_change();

CREATE FUNCTION accounts_delete_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM accounts_change WHERE owner_id = OLD.id;
    RETURN NULL;
END $$;
"""
HISTORY_BACK = """
DROP FUNCTION accounts_delete_history, accounts_record_account_change CASCADE;
DROP FUNCTION accounts_fields, accounts_differences, accounts_record_change;
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('public_id', models.UUIDField(default=common.ids.new_public_id, editable=False, unique=True, db_comment='Id in tokens and in the API.')),
                ('email', models.EmailField(max_length=254, unique=True, db_comment='Login, in lower case.')),
                ('first_name', models.CharField(blank=True, max_length=100, db_comment='May be empty.')),
                ('last_name', models.CharField(blank=True, max_length=100, db_comment='May be empty.')),
                ('plan', models.CharField(choices=[('free', 'Free'), ('pro', 'Pro'), ('enterprise', 'Enterprise')], default='free', max_length=10, db_comment='free, pro or enterprise.')),
                ('is_active', models.BooleanField(default=True, db_comment='False: no key, token or session works.')),
                ('is_staff', models.BooleanField(default=False, db_comment='Whether the account may open the admin.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, db_comment='Creation time.')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'db_table_comment': 'Accounts. An account signs in with its e-mail address.',
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='api_key', serialize=False, to=settings.AUTH_USER_MODEL, db_comment='The account. It has one key.')),
                ('digest', models.BinaryField(max_length=32, unique=True, db_comment='SHA-256 digest, for lookup.')),
                ('sealed', models.BinaryField(max_length=128, db_comment='The key, encrypted for its owner.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_comment='Creation time.')),
            ],
            options={'db_table_comment': 'The API key of each account.'},
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('public_id', models.UUIDField(db_comment='Id in tokens and in the API.', default=common.ids.new_public_id, editable=False, unique=True)),
                ('password_fingerprint', models.CharField(db_comment='Digest of the password hash under which its tokens are valid.', max_length=32)),
                ('generation', models.IntegerField(db_comment='Number of the current tokens. Each refresh adds 1.', default=1)),
                ('issued_at', models.DateTimeField(db_comment='When the current tokens were issued, by the clock of the host that issued them.')),
                ('rotated_at', models.DateTimeField(db_comment='The same by the clock of the database, for the grace period.', db_default=django.db.models.functions.datetime.Now())),
                ('created_at', models.DateTimeField(db_comment='Time of the login.', db_default=django.db.models.functions.datetime.Now())),
                ('last_used_at', models.DateTimeField(db_comment='Last use, exact to a minute.', db_default=django.db.models.functions.datetime.Now())),
                ('user_agent', models.CharField(blank=True, db_comment='User-Agent of the login, shortened.', max_length=200)),
                ('browser_session', models.CharField(db_comment='The django_session of the browser that it belongs to; null: it began with a login to the API.', max_length=40, null=True, unique=True)),
                ('expires_at', models.DateTimeField(db_comment='When its refresh tokens expire.', db_index=True)),
                ('ended_at', models.DateTimeField(db_comment='When it ended early. No token works since.', null=True)),
                ('end_reason', models.CharField(choices=[('logout', 'Logout'), ('revoked', 'Ended from another session'), ('password', 'Change of password'), ('reuse', 'A refresh token was used twice'), ('limit', 'Too many sessions')], db_comment='logout, revoked, password, reuse or limit.', max_length=10, null=True)),
                ('user', models.ForeignKey(db_comment='The account.', on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table_comment': 'Sessions of the API. Those of browsers are in django_session.',
                'indexes': [
                    models.Index(condition=models.Q(('ended_at', None)), fields=['user', 'id'], name='session_live'),
                    models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['ended_at'], name='session_ended'),
                ],
            },
        ),
        migrations.CreateModel(
            name='StoredResponse',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('key_digest', models.BinaryField(max_length=32, db_comment='Digest of the Idempotency-Key.')),
                ('sealed', models.BinaryField(db_comment='The response, encrypted.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True, db_comment='When the request was committed.')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL, db_comment='The account that sent the request.')),
            ],
            options={
                'db_table_comment': 'Stored responses to requests with an Idempotency-Key.',
                'constraints': [models.UniqueConstraint(fields=('owner', 'key_digest'), name='idempotent_once')],
            },
        ),
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('public_id', models.UUIDField(db_comment='API id.', db_default=RandomUUID(), editable=False)),
                ('changed_at', models.DateTimeField(db_comment='Time of the change.', db_default=django.db.models.functions.datetime.Now())),
                ('via', models.CharField(choices=[('api_key', 'api_key'), ('token', 'token'), ('operator', 'operator'), ('page', 'page'), ('service', 'service')], db_comment='api_key, token, operator (in the admin), page (under /accounts/) or service.', max_length=10)),
                ('key_id', models.UUIDField(db_comment='API id of the key with scopes that the actor used; it may be deleted.', null=True)),
                ('request_id', models.CharField(db_comment='X-Request-ID; empty without a request.', max_length=64)),
                ('object_id', models.UUIDField(db_comment='API id of the changed object; it may be deleted.')),
                ('action', models.CharField(db_comment='Kind of object and of change: link.updated.', max_length=40)),
                ('before', models.JSONField(db_comment='Former values of the changed fields.')),
                ('after', models.JSONField(db_comment='New values of the changed fields.')),
                ('actor', models.ForeignKey(db_comment='The account that made the change; it may be deleted. Null: the service.', db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('owner', models.ForeignKey(db_comment='Owner of the changed object.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table_comment': 'Who changed what: one row for each change.',
                'indexes': [
                    models.Index(fields=['owner', 'id'], name='change_owner'),
                    models.Index(fields=['owner', 'actor', 'id'], name='change_owner_actor'),
                    models.Index(fields=['owner', 'action', 'id'], name='change_owner_action'),
                    models.Index(fields=['object_id', 'id'], name='change_object'),
                ],
            },
        ),
        migrations.RunSQL(COMMENTS, migrations.RunSQL.noop),
        migrations.RunSQL(HISTORY, HISTORY_BACK),
    ]
