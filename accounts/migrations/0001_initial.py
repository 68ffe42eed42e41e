"""Accounts alone: the tables of Django and allauth refer to them.

Each of their migrations makes classes of all models again that are related to the accounts. So the others come later.
"""

import common.ids
import django.db.models.functions.datetime
from django.db import migrations, models


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
                ('public_id', models.UUIDField(db_comment='Id in tokens and in the API.', default=common.ids.new_public_id, editable=False, unique=True)),
                ('email', models.EmailField(db_comment='Login, in lower case.', max_length=254, unique=True)),
                ('first_name', models.CharField(blank=True, db_comment='May be empty.', max_length=100)),
                ('last_name', models.CharField(blank=True, db_comment='May be empty.', max_length=100)),
                ('plan', models.CharField(choices=[('free', 'Free'), ('pro', 'Pro'), ('enterprise', 'Enterprise')], db_comment='free, pro or enterprise.', default='free', max_length=10)),
                ('language', models.CharField(blank=True, db_comment='Of mails to the account; null: that of the request.', max_length=3, null=True)),
                ('is_active', models.BooleanField(db_comment='False: no key, token or session works.', default=True)),
                ('is_staff', models.BooleanField(db_comment='Whether the account may open the admin.', default=False)),
                ('is_staff_by_provider', models.BooleanField(db_comment='Whether is_staff holds only in sessions that were opened with the OpenID provider.', db_default=False, default=False, help_text='The provider granted the staff status. It holds only in sessions that the provider opened.', verbose_name='staff by single sign-on')),
                ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'db_table_comment': 'Accounts. An account signs in with its e-mail address.',
            },
        ),
    ]
