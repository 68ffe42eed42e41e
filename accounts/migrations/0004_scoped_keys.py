import common.ids
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


# The end of a membership deletes the member's keys of this workspace, whichever program ends it.
OF_MEMBER = """
ALTER TABLE accounts_scopedkey ADD CONSTRAINT accounts_scopedkey_member_fk_accounts_member
    FOREIGN KEY (workspace_id, user_id) REFERENCES accounts_member (workspace_id, user_id) ON DELETE CASCADE
    DEFERRABLE INITIALLY DEFERRED
"""
REVERSE = "ALTER TABLE accounts_scopedkey DROP CONSTRAINT accounts_scopedkey_member_fk_accounts_member"


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_invitation'),
    ]

    operations = [
        migrations.CreateModel(
            name='ScopedKey',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                ('name', models.CharField(db_comment='For people.', max_length=100)),
                ('scopes', models.PositiveSmallIntegerField(db_comment='One bit for each scope, in the order of their list.')),
                ('domain_id', models.BigIntegerField(db_comment='Limits it to the links on this domain. Null: any domain.', null=True)),
                ('only_own', models.BooleanField(db_comment='Whether it is limited to the links that it created.')),
                ('digest', models.BinaryField(db_comment='SHA-256 digest, for lookup.', max_length=32, unique=True)),
                ('previous_digest', models.BinaryField(db_comment='Digest of the key before its rotation, while that one works.', max_length=32, null=True)),
                ('previous_until', models.DateTimeField(db_comment='When the former key stops working.', null=True)),
                ('expires_at', models.DateTimeField(db_comment='When the key expires. Null: never.', null=True)),
                ('last_used_at', models.DateTimeField(db_comment='Last use, exact to a minute. Null: never.', null=True)),
                ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('user', models.ForeignKey(db_comment='The member who created it, and for whom it acts.', on_delete=django.db.models.deletion.CASCADE, related_name='scoped_keys', to=settings.AUTH_USER_MODEL)),
                ('workspace', models.ForeignKey(db_comment='The workspace in which it acts.', db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='keys', to='accounts.workspace')),
            ],
            options={
                'db_table_comment': 'API keys with scopes. Each has the digest of its key only.',
                'indexes': [models.Index(fields=['workspace', 'user'], name='scopedkey_membership')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('previous_digest__isnull', False)), fields=('previous_digest',), name='scopedkey_previous_digest'), models.CheckConstraint(condition=models.Q(models.Q(('previous_digest', None), ('previous_until', None)), models.Q(('previous_digest__isnull', False), ('previous_until__isnull', False)), _connector='OR'), name='scopedkey_grace')],
            },
        ),
        migrations.RunSQL(OF_MEMBER, REVERSE),
    ]
