import common.ids
import django.contrib.postgres.fields
import django.contrib.postgres.functions
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

from common.migrations import CreateModels, run_sql_files


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0002_initial'),
        ('bans', '0001_initial'),
        ('domains', '0001_initial'),
    ]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name='Link',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('owner', models.ForeignKey(db_comment='The workspace.', db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='links', to='accounts.workspace')),
                    ('creator', models.ForeignKey(blank=True, db_comment='The account that created the link. Null: that of the personal workspace.', db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='created_links', to=settings.AUTH_USER_MODEL)),
                    ('key_id', models.BigIntegerField(db_comment='The key with scopes that created the link. Null: none.', editable=False, null=True)),
                    ('domain', models.ForeignKey(blank=True, db_comment='Null: the default domain.', db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='links', to='domains.domain')),
                    ('short_code', models.CharField(db_comment='Generated; never changes.', editable=False, max_length=255)),
                    ('custom_code', models.CharField(blank=True, db_comment='Null: none.', max_length=255, null=True)),
                    ('original_url', models.TextField(db_comment='Destination as entered.', editable=False, verbose_name='original URL')),
                    ('target_url', models.TextField(blank=True, db_comment='Replaces original_url as the destination. As entered. Null: none.', null=True, verbose_name='target URL')),
                    ('destination', models.TextField(db_comment='Canonical form of target_url or original_url, sent in redirects.', editable=False)),
                    ('other_destinations', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_comment='Canonical form of all other URLs to which the link can lead, and of the image of its preview.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)), default=list, editable=False, size=None)),
                    ('title', models.CharField(blank=True, db_comment='Null: never set.', max_length=800, null=True)),
                    ('description', models.CharField(blank=True, db_comment='Null: never set.', max_length=2000, null=True)),
                    ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, db_comment='Tags as entered.', default=list, size=None)),
                    ('tag_keys', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_comment='Case-folded tags, for filters.', default=list, editable=False, size=None)),
                    ('is_active', models.BooleanField(db_comment="The owner's switch.", default=True, verbose_name='switched on')),
                    ('starts_at', models.DateTimeField(blank=True, db_comment='Null: at once.', null=True)),
                    ('not_started_url', models.TextField(blank=True, db_comment='Where visitors go before starts_at. Canonical form. Null: 404.', null=True, verbose_name='URL before the start')),
                    ('expires_at', models.DateTimeField(blank=True, db_comment='Null: never.', null=True)),
                    ('expired_url', models.TextField(blank=True, db_comment="Where visitors go after the end or the last click. Canonical form. Null: the domain's, or 410.", null=True, verbose_name='URL after the end')),
                    ('fallback_url', models.TextField(blank=True, db_comment='Where visitors go while the destination is dead. Canonical form. Null: to the destination.', null=True, verbose_name='URL while the destination is dead')),
                    ('health_check', models.TextField(blank=True, choices=[('off', 'Off'), ('weekly', 'Weekly'), ('daily', 'Daily')], db_comment='How often the destination is checked: off, weekly or daily. Null: as the workspace says.', null=True, verbose_name='checks of the destination')),
                    ('is_dead', models.BooleanField(db_comment='Whether checks have found the destination dead: the status in links_linkhealth, for redirects.', db_default=False, default=False, editable=False)),
                    ('password', models.CharField(blank=True, db_comment='Hash.', editable=False, max_length=200, null=True)),
                    ('utm', models.JSONField(blank=True, db_comment='utm parameters added to redirects.', default=dict)),
                    ('forward_query', models.BooleanField(db_comment="Whether redirects add the visitor's parameters.", db_default=False, default=False, verbose_name="forwards the visitor's parameters")),
                    ('referrer_policy', models.TextField(blank=True, choices=[('no-referrer', 'No Referrer'), ('origin', 'Origin'), ('strict-origin-when-cross-origin', 'Strict Origin When Cross Origin')], db_comment='Referrer-Policy of redirects. Null: none.', null=True)),
                    ('rules', models.JSONField(blank=True, db_comment='Destinations with conditions on the visitor; the first rule that matches applies.', db_default=models.Value([], output_field=models.JSONField()), default=list)),
                    ('split', models.JSONField(blank=True, db_comment='Destinations that each get a share of the visitors, after the rules.', db_default=models.Value([], output_field=models.JSONField()), default=list)),
                    ('preview', models.JSONField(blank=True, db_comment='The card that messengers show: title, description and imageUrl.', null=True)),
                    ('external_id', models.CharField(blank=True, db_comment='Id in another system, unique in the workspace. Null: none.', max_length=400, null=True, verbose_name='id in another system')),
                    ('is_archived', models.BooleanField(db_comment='Whether lists hide the link.', db_default=False, default=False, verbose_name='archived')),
                    ('max_clicks', models.PositiveIntegerField(blank=True, db_comment='Null: no limit.', null=True, verbose_name='click limit')),
                    ('max_clicks_per_visitor', models.PositiveIntegerField(blank=True, db_comment='Null: no limit.', null=True, verbose_name='click limit per visitor')),
                    ('allowed_countries', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=2), blank=True, db_comment='ISO 3166-1 alpha-2; empty: all.', default=list, size=None)),
                    ('blocked_countries', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=2), blank=True, db_comment='ISO 3166-1 alpha-2.', default=list, size=None)),
                    ('allowed_devices', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('desktop', 'Desktop'), ('mobile', 'Mobile'), ('tablet', 'Tablet')], max_length=7), blank=True, db_comment='desktop, mobile, tablet; empty: all.', default=list, size=None)),
                    ('redirect_type', models.PositiveSmallIntegerField(choices=[(301, '301, permanent'), (302, '302, temporary')], db_comment='HTTP status: 301 or 302.', default=302, verbose_name='redirect')),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('updated_at', models.DateTimeField(db_comment='Last change.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ],
                options={
                    'db_table_comment': 'Short links.',
                    'indexes': [models.Index(condition=models.Q(('creator__isnull', False)), fields=['creator', 'owner', 'is_archived', 'created_at', 'id'], name='link_creator'), models.Index(condition=models.Q(('password__isnull', False)), fields=['owner', 'is_archived', 'created_at', 'id'], name='link_password'), models.Index(condition=models.Q(('utm', {}), _negated=True), fields=['owner'], name='link_utm'), models.Index(condition=models.Q(('domain__isnull', False)), fields=['domain'], name='link_domain'), models.Index(condition=models.Q(('key_id__isnull', False)), fields=['key_id', 'owner'], include=['is_archived'], name='link_key'), models.Index(condition=models.Q(('is_active', False), ('starts_at__isnull', False), ('expires_at__isnull', False), ('max_clicks__isnull', False), _connector='OR'), fields=['owner', 'id'], include=['is_active', 'is_archived', 'starts_at', 'expires_at', 'max_clicks'], name='link_closable'), models.Index(condition=models.Q(('is_dead', True)), fields=['owner', 'id'], name='link_dead')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('external_id__isnull', False)), fields=('owner', 'external_id'), name='link_external_id')],
                },
            ),
            migrations.CreateModel(
                name='ClickCounter',
                fields=[
                    ('link', models.OneToOneField(db_comment='The link.', on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='counter', serialize=False, to='links.link')),
                    ('owner', models.ForeignKey(db_comment='Owner of the link.', db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.workspace')),
                    ('clicks', models.BigIntegerField(db_comment='All clicks, imported ones included.', default=0)),
                    ('is_archived', models.BooleanField(db_comment='That of the link.', db_default=False, default=False)),
                    ('imported', models.BigIntegerField(db_comment='Clicks of imports, part of clicks. Reports contain those that have a day.', db_default=0)),
                ],
                options={
                    'db_table_comment': 'Clicks of each link.',
                    'indexes': [models.Index(fields=['owner', 'clicks', 'link'], include=['is_archived'], name='counter_owner_clicks'), models.Index(condition=models.Q(('is_archived', True)), fields=['owner', 'clicks', 'link'], name='counter_owner_archived')],
                },
            ),
            migrations.CreateModel(
                name='VisitorKey',
                fields=[
                    ('link', models.OneToOneField(db_comment='The link.', db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='links.link')),
                    ('key', models.UUIDField(db_comment="Random key of the link's hashes.", db_default=django.contrib.postgres.functions.RandomUUID(), editable=False)),
                ],
                options={
                    'db_table_comment': 'Keys of the visitor hashes of links with max_clicks_per_visitor.',
                },
            ),
            migrations.CreateModel(
                name='VisitorClicks',
                fields=[
                    ('pk', models.CompositePrimaryKey('link', 'visitor', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('link', models.ForeignKey(db_comment='The link.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='links.link')),
                    ('visitor', models.BinaryField(db_comment='Keyed hash of the address.')),
                    ('clicks', models.IntegerField(db_comment='Clicks claimed.')),
                ],
                options={
                    'db_table_comment': 'Clicks that each visitor claimed of links with max_clicks_per_visitor.',
                },
            ),
            migrations.CreateModel(
                name='OwnerTotals',
                fields=[
                    ('pk', models.CompositePrimaryKey('owner', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('owner', models.ForeignKey(db_comment='The workspace.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.workspace')),
                    ('slot', models.SmallIntegerField(db_comment='Spreads concurrent writes.')),
                    ('links', models.BigIntegerField(db_comment='Links; may be negative in one slot.', default=0)),
                    ('active_links', models.BigIntegerField(db_comment='Active links, likewise.', default=0)),
                    ('archived_links', models.BigIntegerField(db_comment='Archived links, likewise.', db_default=0, default=0)),
                    ('archived_active_links', models.BigIntegerField(db_comment='Archived links that are active, likewise.', db_default=0, default=0)),
                    ('clicks', models.BigIntegerField(db_comment='Clicks, likewise.', default=0)),
                    ('changes', models.BigIntegerField(db_comment='Changes of the rows in links_searchable. Never decreases.', db_default=0)),
                    ('bytes', models.BigIntegerField(db_comment='Stored bytes of links and QR codes, likewise.', db_default=0)),
                ],
                options={
                    'db_table_comment': "Totals of each owner's links. Add up the slots.",
                },
            ),
            migrations.CreateModel(
                name='TagTotals',
                fields=[
                    ('pk', models.CompositePrimaryKey('owner', 'tag_key', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('owner', models.ForeignKey(db_comment='Owner of the links.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.workspace')),
                    ('tag_key', models.TextField(db_comment='Case-folded tag.')),
                    ('slot', models.SmallIntegerField(db_comment='Identifier of the link, modulo 8.')),
                    ('links', models.BigIntegerField(db_comment='Links with the tag.')),
                    ('active_links', models.BigIntegerField(db_comment='Active links with the tag.')),
                    ('archived_links', models.BigIntegerField(db_comment='Archived links with the tag.')),
                    ('archived_active_links', models.BigIntegerField(db_comment='Archived links with the tag that are active.')),
                    ('link_id', models.BigIntegerField(db_comment='The link that got the tag last; it may have lost it since.')),
                ],
                options={
                    'db_table_comment': 'Number of links with each tag of an owner. Sum it over the slots.',
                },
            ),
            migrations.CreateModel(
                name='CreatedLinks',
                fields=[
                    ('owner', models.OneToOneField(db_comment='The workspace.', db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='accounts.workspace')),
                    ('month', models.DateField(db_comment='First day of the month (UTC).')),
                    ('links', models.IntegerField(db_comment='Links created, deleted ones included.')),
                ],
                options={
                    'db_table_comment': 'Links that each workspace created in a month, for quotas.',
                },
            ),
            migrations.CreateModel(
                name='DeletedLink',
                fields=[
                    ('link_id', models.BigIntegerField(db_comment='Internal key of the link.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id of the link.', unique=True)),
                    ('owner', models.ForeignKey(db_comment='Owner of the link.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.workspace')),
                    ('deleted_at', models.DateTimeField(db_comment='Time of the deletion.', db_default=django.db.models.functions.datetime.Now(), db_index=True)),
                    ('link', models.JSONField(db_comment='The row of links_link.')),
                    ('codes', models.JSONField(db_comment='The rows of links_code: domain_id, code and kind.')),
                    ('clicks', models.BigIntegerField(db_comment='All clicks, imported ones included.')),
                    ('imported', models.BigIntegerField(db_comment='Clicks of imports, part of clicks.')),
                ],
                options={
                    'db_table_comment': 'Deleted links that can be brought back for some days.',
                    'indexes': [models.Index(fields=['owner', 'deleted_at', 'link_id'], name='deletedlink_owner_time')],
                },
            ),
            migrations.CreateModel(
                name='Tag',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='Id in the history.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('owner', models.ForeignKey(db_comment='The workspace.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.workspace')),
                    ('key', models.TextField(db_comment='Case-folded tag.')),
                    ('name', models.TextField(db_comment='The tag as entered.')),
                    ('color', models.CharField(db_comment='#RRGGBB. Null: none was chosen.', max_length=7, null=True)),
                ],
                options={
                    'db_table_comment': 'Tags with a colour or a chosen spelling.',
                    'constraints': [models.UniqueConstraint(fields=('owner', 'key'), name='tag_owner_key')],
                },
            ),
            migrations.CreateModel(
                name='TagChange',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('owner', models.ForeignKey(db_comment='The workspace.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.workspace')),
                    ('action', models.TextField(choices=[('renamed', 'Renamed'), ('merged', 'Merged'), ('deleted', 'Deleted')], db_comment='renamed, merged or deleted.')),
                    ('status', models.TextField(choices=[('running', 'Running'), ('done', 'Done'), ('undoing', 'Undoing'), ('undone', 'Undone')], db_comment='How far it is.', default='running')),
                    ('key', models.TextField(db_comment='Case-folded former tag.')),
                    ('name', models.TextField(db_comment='Former tag.')),
                    ('new_key', models.TextField(db_comment='Case-folded new tag. Null: deleted.', null=True)),
                    ('new_name', models.TextField(db_comment='New tag. Null: deleted.', null=True)),
                    ('color', models.CharField(db_comment='Colour of the former tag.', max_length=7, null=True)),
                    ('had_row', models.BooleanField(db_comment='Whether the former tag had a row in links_tag.')),
                    ('makes_row', models.BooleanField(db_comment='Whether the new tag had none.')),
                    ('author', models.JSONField(db_comment='Who made the change, for the history.')),
                    ('links', models.BigIntegerField(db_comment='Links that it has changed.', db_default=0)),
                    ('restored', models.BigIntegerField(db_comment='Links that its undoing has changed back.', db_default=0)),
                    ('position', models.BigIntegerField(db_comment='Row of the history after which its own begin or continue.')),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ],
                options={
                    'db_table_comment': 'Renamed, merged and deleted tags, for some days.',
                    'indexes': [models.Index(fields=['owner', 'id'], name='tagchange_owner')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ['running', 'undoing'])), fields=('owner',), name='tagchange_one_at_a_time')],
                },
            ),
            migrations.CreateModel(
                name='SavedView',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('owner', models.ForeignKey(db_comment='The workspace.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.workspace')),
                    ('name', models.CharField(db_comment='Unique within the workspace.', max_length=60)),
                    ('filters', models.JSONField(db_comment='Parameters of the list, as texts.', default=dict)),
                    ('report', models.JSONField(db_comment='Parameters of the report, as texts. Null: none.', null=True)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('updated_at', models.DateTimeField(auto_now=True, db_comment='Last change.')),
                ],
                options={
                    'db_table_comment': 'Saved views of the lists of links, and of reports.',
                    'constraints': [models.UniqueConstraint(fields=('owner', 'name'), name='savedview_owner_name')],
                },
            ),
            migrations.CreateModel(
                name='UtmTemplate',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('owner', models.ForeignKey(db_comment='The workspace.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.workspace')),
                    ('name', models.CharField(db_comment='Unique within the workspace.', max_length=240)),
                    ('values', models.JSONField(db_comment='Values by parameter.', default=dict)),
                    ('allowed', models.JSONField(db_comment='Lists of allowed values by parameter.', default=dict)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('updated_at', models.DateTimeField(auto_now=True, db_comment='Last change.')),
                ],
                options={
                    'db_table_comment': 'Templates of campaign parameters.',
                    'constraints': [models.UniqueConstraint(fields=('owner', 'name'), name='utmtemplate_owner_name')],
                },
            ),
            migrations.CreateModel(
                name='Code',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('domain', models.ForeignKey(db_comment='Null: the default domain.', db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='codes', to='domains.domain')),
                    ('code', models.CharField(db_comment='As in the path of the short URL.', max_length=255)),
                    ('kind', models.CharField(choices=[('short', 'Short'), ('custom', 'Custom'), ('alias', 'Alias (a former custom code)'), ('reserved', "Reserved (default-domain code of a link on a customer's domain)"), ('retired', 'Retired (of a deleted link)')], db_comment='Why the code is taken.', max_length=8)),
                    ('link', models.ForeignKey(db_comment='Null: retired.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='codes', to='links.link')),
                    ('owner', models.ForeignKey(db_comment='Former owner of a retired code.', db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.workspace')),
                    ('held_until', models.DateTimeField(db_comment='When a retired code becomes free.', null=True)),
                ],
                options={
                    'db_table_comment': 'Every code that is taken on a domain, for any reason.',
                    'constraints': [models.UniqueConstraint(fields=('domain', 'code'), name='code_unique', nulls_distinct=False), models.CheckConstraint(condition=models.Q(django.db.models.lookups.Exact(models.Q(('held_until', None)), models.Q(('link__isnull', False))), django.db.models.lookups.Exact(models.Q(('link', None)), models.Q(('kind', 'retired')))), name='code_held_or_linked')],
                },
            ),
            migrations.CreateModel(
                name='LinkHealth',
                fields=[
                    ('link', models.OneToOneField(db_comment='The link.', db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='links.link')),
                    ('owner_id', models.BigIntegerField(db_comment='Owner of the link, for fair turns.')),
                    ('status', models.TextField(choices=[('unknown', 'Unknown'), ('healthy', 'Healthy'), ('blocked', 'Blocked'), ('dead', 'Dead')], db_comment='unknown, healthy, blocked or dead.', db_default='unknown', default='unknown')),
                    ('checked_at', models.DateTimeField(db_comment='Time of the last check. Null: none yet.', null=True)),
                    ('problem', models.TextField(db_comment='What the last check found. Null: nothing.', null=True)),
                    ('failures', models.SmallIntegerField(db_comment='Failed checks since one that found it healthy or blocked.', db_default=0, default=0)),
                    ('failing_since', models.DateTimeField(db_comment='The first of these failures. Null: none.', null=True)),
                    ('due_at', models.DateTimeField(db_comment='Time of the next check. Null: none.', null=True)),
                    ('is_requested', models.BooleanField(db_comment='Whether somebody asked for the next check.', db_default=False, default=False)),
                ],
                options={
                    'db_table_comment': 'The health of the destinations of links.',
                    'indexes': [models.Index(condition=models.Q(('due_at__isnull', False), ('is_requested', False)), fields=['owner_id', 'due_at'], name='linkhealth_due'), models.Index(condition=models.Q(('due_at__isnull', False), ('is_requested', False)), fields=['due_at', 'owner_id'], name='linkhealth_soonest'), models.Index(condition=models.Q(('is_requested', True)), fields=['owner_id', 'due_at'], name='linkhealth_requested')],
                },
            ),
            migrations.CreateModel(
                name='CheckedHost',
                fields=[
                    ('name', models.TextField(db_comment='A registered domain or network, also with a workspace, or an origin: https://example.com.', primary_key=True, serialize=False)),
                    ('free_at', models.DateTimeField(db_comment='No request before this time; no use of robots after it.')),
                    ('planned_until', models.DateTimeField(db_comment='The last check that is planned. Null: none.', null=True)),
                    ('robots', models.TextField(db_comment='The robots.txt of an origin. Null: the row is of a host.', null=True)),
                ],
                options={
                    'db_table_comment': 'Hosts that the checks of destinations have called.',
                },
            ),
            migrations.CreateModel(
                name='LinkBan',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('link', models.OneToOneField(db_comment='The banned link.', db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='ban', to='links.link')),
                    ('reason', models.CharField(blank=True, db_comment="The operator's note.", max_length=500)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ],
                options={
                    'db_table_comment': "Operators' bans of single links.",
                    'verbose_name': 'ban of a link',
                    'verbose_name_plural': 'bans of links',
                },
            ),
            migrations.CreateModel(
                name='FormerUtm',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('link_id', models.BigIntegerField(db_comment='The link.')),
                    ('owner_id', models.BigIntegerField(db_comment='Its workspace.')),
                    ('until', models.DateField(db_comment='The day (UTC) of the change. Its clicks count with what it ended with.')),
                    ('utm', models.JSONField(db_comment='As in links_link.')),
                ],
                options={
                    'db_table_comment': 'Campaign parameters that links had on earlier days.',
                    'indexes': [models.Index(fields=['owner_id', 'link_id'], name='formerutm_owner_link')],
                    'constraints': [models.UniqueConstraint(fields=('link_id', 'until'), name='formerutm_link_until')],
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
        ),
        # In this order: a later file may use the functions of an earlier one.
        run_sql_files(
            __file__,
            'foreign_keys.sql',
            'search.sql',
            'stored_bytes.sql',
            'totals.sql',
            'tag_totals.sql',
            'routes.sql',
            'former_utm.sql',
            'health.sql',
            'immutable_columns.sql',
            'domain_deletion.sql',
            'bans.sql',
            'claims.sql',
            'notifications.sql',
            'history.sql',
            'deletion.sql',
            'events.sql',
        ),
    ]
