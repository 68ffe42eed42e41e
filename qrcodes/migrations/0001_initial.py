import common.ids
import django.db.models.deletion
import django.db.models.functions.datetime
import qrcodes.models
from django.conf import settings
from django.db import migrations, models


# Links are deleted by statements of their own, past Django, which cannot write this.
CASCADE = """
ALTER TABLE qrcodes_qrcode ADD CONSTRAINT qrcode_link FOREIGN KEY (link_id) REFERENCES links_link ON DELETE CASCADE
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('links', '0002_kept_by_the_database'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='QrCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=common.ids.new_public_id, editable=False, unique=True)),
                ('token', models.CharField(default=qrcodes.models.new_token, editable=False, max_length=22)),
                ('digest', models.BinaryField(help_text='Of the content and the whole design.')),
                ('content', models.TextField(help_text='What readers read.')),
                ('size', models.PositiveSmallIntegerField()),
                ('format', models.CharField(choices=[('png', 'Png'), ('svg', 'Svg'), ('jpeg', 'Jpeg')], max_length=4)),
                ('level', models.CharField(choices=[('L', 'Low'), ('M', 'Medium'), ('Q', 'Quartile'), ('H', 'High')], max_length=1)),
                ('foreground', models.CharField(max_length=7)),
                ('background', models.CharField(max_length=7)),
                ('margin', models.PositiveSmallIntegerField()),
                ('style', models.CharField(choices=[('square', 'Square'), ('rounded', 'Rounded'), ('dots', 'Dots')], max_length=7)),
                ('logo', models.BinaryField(null=True)),
                ('has_logo', models.GeneratedField(db_persist=True, expression=models.Q(('logo__isnull', False)), output_field=models.BooleanField())),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('link', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='qr_codes', to='links.link')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'QR code',
                'indexes': [models.Index(fields=['owner', '-id'], name='qrcode_owner')],
                'constraints': [models.UniqueConstraint(fields=('link', 'digest'), name='qrcode_once'), models.UniqueConstraint(fields=('token',), name='qrcode_token')],
            },
        ),
        migrations.RunSQL(CASCADE, "ALTER TABLE qrcodes_qrcode DROP CONSTRAINT qrcode_link"),
    ]
