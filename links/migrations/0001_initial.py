import common.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.contrib.postgres.functions import RandomUUID
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('domains', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Link',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('public_id', models.UUIDField(default=common.ids.new_public_id, editable=False, unique=True, db_comment='API id.')),
                ('short_code', models.CharField(editable=False, max_length=255, db_comment='Generated; never changes.')),
                ('custom_code', models.CharField(blank=True, max_length=255, null=True, db_comment='Null: none.')),
                ('original_url', models.TextField(editable=False, db_comment='Destination as entered.')),
                ('destination', models.TextField(editable=False, db_comment='Canonical form of target_url or original_url, sent in redirects.')),
                ('title', models.CharField(blank=True, max_length=800, null=True, db_comment='Null: never set.')),
                ('description', models.CharField(blank=True, max_length=2000, null=True, db_comment='Null: never set.')),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, size=None, db_comment='Tags as entered.')),
                ('tag_keys', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, editable=False, size=None, db_comment='Case-folded tags, for filters.')),
                ('is_active', models.BooleanField(default=True, db_comment="The owner's switch.")),
                ('expires_at', models.DateTimeField(blank=True, null=True, db_comment='Null: never.')),
                ('password', models.CharField(blank=True, editable=False, max_length=200, null=True, db_comment='Hash.')),
                ('utm', models.JSONField(blank=True, default=dict, db_comment='utm parameters added to redirects.')),
                ('max_clicks', models.PositiveIntegerField(blank=True, null=True, db_comment='Null: no limit.')),
                ('allowed_countries', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=2), blank=True, default=list, size=None, db_comment='ISO 3166-1 alpha-2; empty: all.')),
                ('blocked_countries', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=2), blank=True, default=list, size=None, db_comment='ISO 3166-1 alpha-2.')),
                ('allowed_devices', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('desktop', 'Desktop'), ('mobile', 'Mobile'), ('tablet', 'Tablet')], max_length=7), blank=True, default=list, size=None, db_comment='desktop, mobile, tablet; empty: all.')),
                ('redirect_type', models.PositiveSmallIntegerField(choices=[(301, 'Permanent'), (302, 'Found')], default=302, db_comment='HTTP status: 301 or 302.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, db_comment='Creation time.')),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, db_comment='Last change.')),
                ('domain', models.ForeignKey(blank=True, null=True, db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='links', to='domains.domain', db_comment='Null: the default domain.')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='links', to=settings.AUTH_USER_MODEL, db_comment='The owner.')),
                ('max_clicks_per_visitor', models.PositiveIntegerField(blank=True, null=True, db_comment='Null: no limit.')),
                ('target_url', models.TextField(blank=True, null=True, db_comment='Replaces original_url as the destination. As entered. Null: none.')),
                ('other_destinations', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_comment='Canonical form of all other URLs to which the link can lead, and of the image of its preview.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)), default=list, editable=False, size=None)),
                ('starts_at', models.DateTimeField(blank=True, null=True, db_comment='Null: at once.')),
                ('not_started_url', models.TextField(blank=True, null=True, db_comment='Where visitors go before starts_at. Canonical form. Null: 404.')),
                ('expired_url', models.TextField(blank=True, null=True, db_comment="Where visitors go after the end or the last click. Canonical form. Null: the domain's, or 410.")),
                ('forward_query', models.BooleanField(db_comment="Whether redirects add the visitor's parameters.", db_default=False, default=False)),
                ('referrer_policy', models.TextField(blank=True, choices=[('no-referrer', 'No Referrer'), ('origin', 'Origin'), ('strict-origin-when-cross-origin', 'Strict Origin When Cross Origin')], null=True, db_comment='Referrer-Policy of redirects. Null: none.')),
                ('rules', models.JSONField(blank=True, db_comment='Destinations with conditions on the visitor; the first rule that matches applies.', db_default=models.Value([], output_field=models.JSONField()), default=list)),
                ('split', models.JSONField(blank=True, db_comment='Destinations that each get a share of the visitors, after the rules.', db_default=models.Value([], output_field=models.JSONField()), default=list)),
                ('preview', models.JSONField(blank=True, null=True, db_comment='The card that messengers show: title, description and imageUrl.')),
            ],
            options={
                'db_table_comment': 'Short links.',
                'indexes': [models.Index(condition=models.Q(('domain__isnull', False)), fields=['domain'], name='link_domain')],
            },
        ),
        migrations.CreateModel(
            name='Route',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField(db_comment='The link.')),
                ('number', models.SmallIntegerField(db_comment='Number of the branch within the link; 0: the link itself.')),
                ('branch', models.UUIDField(db_comment='API id of the branch. Null for number 0.', null=True)),
                ('name', models.TextField(db_comment='Name of the branch; empty for number 0.')),
                ('url', models.TextField(db_comment='Canonical form.')),
                ('since', models.DateTimeField(db_comment='Start of the period.')),
                ('until', models.DateTimeField(db_comment='End of the period. Null: current.', null=True)),
            ],
            options={
                'db_table_comment': 'The URLs to which the branches of links led, with the periods.',
                'indexes': [models.Index(fields=['link_id', 'number', 'since'], name='route_link_number_since'), models.Index(condition=models.Q(('until__isnull', True)), fields=['link_id', 'number'], name='route_current'), models.Index(fields=['link_id', 'branch', 'since'], name='route_link_branch_since')],
            },
        ),
        migrations.CreateModel(
            name='OwnerTotals',
            fields=[
                ('pk', models.CompositePrimaryKey('owner', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                ('slot', models.SmallIntegerField(db_comment='Spreads concurrent writes.')),
                ('links', models.BigIntegerField(default=0, db_comment='Links; may be negative in one slot.')),
                ('active_links', models.BigIntegerField(default=0, db_comment='Active links, likewise.')),
                ('clicks', models.BigIntegerField(default=0, db_comment='Clicks, likewise.')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL, db_comment='The account.')),
                ('changes', models.BigIntegerField(db_comment='Changes of the rows in links_searchable. Never decreases.', db_default=0)),
            ],
            options={'db_table_comment': "Totals of each owner's links. Add up the slots."},
        ),
        migrations.CreateModel(
            name='TagTotals',
            fields=[
                ('pk', models.CompositePrimaryKey('owner', 'tag_key', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tag_key', models.TextField(db_comment='Case-folded tag.')),
                ('slot', models.SmallIntegerField(db_comment='Identifier of the link, modulo 8.')),
                ('links', models.BigIntegerField(db_comment='Links with the tag.')),
                ('active_links', models.BigIntegerField(db_comment='Active links with the tag.')),
                ('owner', models.ForeignKey(db_comment='Owner of the links.', db_index=False, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table_comment': 'Number of links with each tag of an owner. Sum it over the slots.',
            },
        ),
        migrations.CreateModel(
            name='Code',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('code', models.CharField(max_length=255, db_comment='As in the path of the short URL.')),
                ('kind', models.CharField(choices=[('short', 'Short'), ('custom', 'Custom'), ('alias', 'Alias (a former custom code)'), ('reserved', "Reserved (default-domain code of a link on a customer's domain)"), ('retired', 'Retired (of a deleted link)')], max_length=8, db_comment='Why the code is taken.')),
                ('held_until', models.DateTimeField(null=True, db_comment='When a retired code becomes free.')),
                ('domain', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='codes', to='domains.domain', db_comment='Null: the default domain.')),
                ('link', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='codes', to='links.link', db_comment='Null: retired.')),
                ('owner', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL, db_comment='Former owner of a retired code.')),
            ],
            options={
                'db_table_comment': 'Every code that is taken on a domain, for any reason.',
                'constraints': [models.UniqueConstraint(fields=('domain', 'code'), name='code_unique', nulls_distinct=False), models.CheckConstraint(condition=models.Q(models.Q(('held_until__isnull', False), ('kind', 'retired'), ('link', None)), models.Q(models.Q(('kind', 'retired'), _negated=True), ('held_until', None), ('link__isnull', False)), _connector='OR'), name='code_held_or_linked')],
            },
        ),
        migrations.CreateModel(
            name='ClickCounter',
            fields=[
                ('link', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='counter', serialize=False, to='links.link', db_comment='The link.')),
                ('clicks', models.BigIntegerField(default=0, db_comment='All clicks, imported ones included.')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL, db_comment='Owner of the link.')),
                ('imported', models.BigIntegerField(db_default=0, db_comment='Clicks of imports, part of clicks. Reports contain those that have a day.')),
            ],
            options={
                'db_table_comment': 'Clicks of each link.',
                'indexes': [models.Index(fields=['owner', 'clicks', 'link'], name='counter_owner_clicks')],
            },
        ),
        migrations.CreateModel(
            name='LinkBan',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('reason', models.CharField(blank=True, max_length=500, db_comment="The operator's note.")),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, db_comment='Creation time.')),
                ('link', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='ban', to='links.link', db_comment='The banned link.')),
            ],
            options={'db_table_comment': "Operators' bans of single links."},
        ),
        migrations.CreateModel(
            name='CreatedLinks',
            fields=[
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to=settings.AUTH_USER_MODEL, db_comment='The account.')),
                ('month', models.DateField(db_comment='First day of the month (UTC).')),
                ('links', models.IntegerField(db_comment='Links created, deleted ones included.')),
            ],
            options={'db_table_comment': 'Links that each account created in a month, for quotas.'},
        ),
        migrations.CreateModel(
            name='DeletedLink',
            fields=[
                ('link_id', models.BigIntegerField(db_comment='Internal key of the link.', primary_key=True, serialize=False)),
                ('public_id', models.UUIDField(db_comment='API id of the link.', unique=True)),
                ('deleted_at', models.DateTimeField(db_comment='Time of the deletion.', db_default=django.db.models.functions.datetime.Now(), db_index=True)),
                ('link', models.JSONField(db_comment='The row of links_link.')),
                ('codes', models.JSONField(db_comment='The rows of links_code: domain_id, code and kind.')),
                ('clicks', models.BigIntegerField(db_comment='All clicks, imported ones included.')),
                ('imported', models.BigIntegerField(db_comment='Clicks of imports, part of clicks.')),
                ('owner', models.ForeignKey(db_comment='Owner of the link.', on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={'db_table_comment': 'Deleted links that can be brought back for some days.'},
        ),
        migrations.CreateModel(
            name='VisitorKey',
            fields=[
                ('link', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='links.link', db_comment='The link.')),
                ('key', models.UUIDField(db_default=RandomUUID(), editable=False, db_comment="Random key of the link's hashes.")),
            ],
            options={'db_table_comment': 'Keys of the visitor hashes of links with max_clicks_per_visitor.'},
        ),
        migrations.CreateModel(
            name='VisitorClicks',
            fields=[
                ('pk', models.CompositePrimaryKey('link', 'visitor', blank=True, editable=False, primary_key=True, serialize=False)),
                ('visitor', models.BinaryField(db_comment='Keyed hash of the address.')),
                ('clicks', models.IntegerField(db_comment='Clicks claimed.')),
                ('link', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='links.link', db_comment='The link.')),
            ],
            options={'db_table_comment': 'Clicks that each visitor claimed of links with max_clicks_per_visitor.'},
        ),
    ]
