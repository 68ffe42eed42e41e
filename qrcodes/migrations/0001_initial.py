import common.ids
import django.db.models.deletion
import django.db.models.functions.datetime
import qrcodes.models
from django.db import migrations, models

from common.migrations import CreateModels, run_sql_files


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('links', '0001_initial'),
    ]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name='QrCode',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('token', models.CharField(db_comment="Secret part of the image's URL.", default=qrcodes.models.new_token, editable=False, max_length=22)),
                    ('link', models.ForeignKey(db_comment='The link.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='qr_codes', to='links.link')),
                    ('owner', models.ForeignKey(db_comment='Owner of the link.', db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.workspace')),
                    ('digest', models.BinaryField(db_comment='Digest of content and design.')),
                    ('content', models.TextField(db_comment='The text in the code.')),
                    ('size', models.PositiveSmallIntegerField(db_comment='Width in pixels.')),
                    ('format', models.CharField(choices=[('png', 'Png'), ('svg', 'Svg'), ('jpeg', 'Jpeg'), ('pdf', 'Pdf')], db_comment='png, svg, jpeg or pdf.', max_length=4)),
                    ('level', models.CharField(choices=[('L', 'Low'), ('M', 'Medium'), ('Q', 'Quartile'), ('H', 'High')], db_comment='Error correction: L, M, Q or H.', max_length=1)),
                    ('foreground', models.CharField(db_comment='Colour, #RRGGBB.', max_length=7)),
                    ('background', models.CharField(db_comment='Colour, #RRGGBB.', max_length=7)),
                    ('margin', models.PositiveSmallIntegerField(db_comment='Quiet zone, in modules.')),
                    ('style', models.CharField(choices=[('square', 'Square'), ('rounded', 'Rounded'), ('dots', 'Dots')], db_comment='square, rounded or dots.', max_length=7)),
                    ('logo', models.BinaryField(db_comment='Image file; null: none.', null=True)),
                    ('has_logo', models.GeneratedField(db_comment='Whether there is a logo.', db_persist=True, expression=models.Q(('logo__isnull', False)), output_field=models.BooleanField())),
                    ('width_mm', models.PositiveSmallIntegerField(db_comment='Printed width in mm; null: by size.', null=True)),
                    ('frame_text', models.CharField(db_comment='Call to action in the frame; null: no frame.', max_length=30, null=True)),
                    ('frame_position', models.CharField(choices=[('below', 'Below'), ('above', 'Above')], db_comment='Place of the text: below or above.', max_length=5)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ],
                options={
                    'verbose_name': 'QR code',
                    'db_table_comment': 'QR codes. Rows never change, because a code may be printed.',
                    'indexes': [models.Index(fields=['owner', '-id'], name='qrcode_owner')],
                    'constraints': [models.UniqueConstraint(fields=('link', 'digest'), name='qrcode_once'), models.UniqueConstraint(fields=('token',), name='qrcode_token')],
                },
            ),
            migrations.CreateModel(
                name='SavedDesign',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('owner', models.ForeignKey(db_comment='The workspace.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='qr_designs', to='accounts.workspace')),
                    ('name', models.CharField(db_comment='Name, unique in the workspace.', max_length=60)),
                    ('is_default', models.BooleanField(db_comment='Whether new codes begin with it.')),
                    ('brand_logo', models.BooleanField(db_comment="Whether codes have the operator's logo without one of their own.")),
                    ('size', models.PositiveSmallIntegerField(db_comment='Width in pixels.')),
                    ('level', models.CharField(choices=[('L', 'Low'), ('M', 'Medium'), ('Q', 'Quartile'), ('H', 'High')], db_comment='Error correction: L, M, Q or H.', max_length=1)),
                    ('foreground', models.CharField(db_comment='Colour, #RRGGBB.', max_length=7)),
                    ('background', models.CharField(db_comment='Colour, #RRGGBB.', max_length=7)),
                    ('margin', models.PositiveSmallIntegerField(db_comment='Quiet zone, in modules.')),
                    ('style', models.CharField(choices=[('square', 'Square'), ('rounded', 'Rounded'), ('dots', 'Dots')], db_comment='square, rounded or dots.', max_length=7)),
                    ('logo', models.BinaryField(db_comment='Image file; null: none.', null=True)),
                    ('has_logo', models.GeneratedField(db_comment='Whether there is a logo.', db_persist=True, expression=models.Q(('logo__isnull', False)), output_field=models.BooleanField())),
                    ('width_mm', models.PositiveSmallIntegerField(db_comment='Printed width in mm; null: by size.', null=True)),
                    ('frame_text', models.CharField(db_comment='Call to action in the frame; null: no frame.', max_length=30, null=True)),
                    ('frame_position', models.CharField(choices=[('below', 'Below'), ('above', 'Above')], db_comment='Place of the text: below or above.', max_length=5)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('updated_at', models.DateTimeField(db_comment='Time of the last change.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ],
                options={
                    'db_table_comment': 'Saved designs of QR codes.',
                    'constraints': [models.UniqueConstraint(fields=('owner', 'name'), name='qrdesign_name'), models.UniqueConstraint(condition=models.Q(('is_default', True)), fields=('owner',), name='qrdesign_default')],
                },
            ),
            migrations.CreateModel(
                name='DeletedQrCode',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('link_id', models.BigIntegerField(db_comment='The deleted link.', db_index=True)),
                    ('code', models.JSONField(db_comment='The row of qrcodes_qrcode.')),
                ],
                options={
                    'db_table_comment': 'QR codes of deleted links that can be brought back.',
                },
            ),
        ),
        # In this order: a later file may use the functions of an earlier one.
        run_sql_files(
            __file__,
            'foreign_keys.sql',
            'deletion.sql',
            'stored_bytes.sql',
        ),
    ]
