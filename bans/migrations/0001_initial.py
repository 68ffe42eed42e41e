import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

from common.migrations import CreateModels, run_sql_files


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0002_initial'),
        ('events', '0001_initial'),
    ]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name='Ban',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('host', models.CharField(blank=True, db_comment='Banned host with its subdomains; null: a ban of a workspace.', help_text='Canonical destination host. The ban includes its subdomains.', max_length=255, null=True, unique=True)),
                    ('owner', models.OneToOneField(blank=True, db_comment='Workspace whose links are banned; null: a ban of a host.', db_constraint=False, help_text='Blocks all links of the workspace. To block sign-in, disable the account, too.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='ban', to='accounts.workspace')),
                    ('reason', models.CharField(blank=True, db_comment="The operator's note.", max_length=500)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ],
                options={
                    'db_table_comment': "Operators' bans of destination hosts and of workspaces' links.",
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('host__isnull', False), ('owner', None)), models.Q(('host', None), ('owner__isnull', False)), _connector='OR'), name='ban_of_host_or_owner'), models.CheckConstraint(condition=models.Q(('host', None), ('host__regex', '^(\\[[0-9a-f:.]+\\]|[a-z0-9_-]{1,63}(\\.[a-z0-9_-]{1,63})+)$'), _connector='OR'), name='ban_host_canonical', violation_error_message='Not a canonical host.')],
                },
            ),
        ),
        # In this order: a later file may use the functions of an earlier one.
        run_sql_files(
            __file__,
            'foreign_keys.sql',
            'hosts.sql',
        ),
    ]
