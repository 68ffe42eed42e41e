import common.ids
import django.db.models.deletion
import django.db.models.functions.datetime
import qrcodes.models
from django.conf import settings
from django.db import migrations, models


# Links are deleted by SQL statements outside Django, which cannot express this constraint.
CASCADE = """
ALTER TABLE qrcodes_qrcode ADD CONSTRAINT qrcode_link FOREIGN KEY (link_id) REFERENCES links_link ON DELETE CASCADE
"""

# The QR codes of a deleted link are restored with it. Until then, the links app keeps a row in links_deletedlink.
DELETED_LINKS = """
CREATE FUNCTION qrcodes_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO qrcodes_deletedqrcode (link_id, code)
    SELECT OLD.link_id, to_jsonb(OLD) WHERE EXISTS (SELECT FROM links_deletedlink WHERE link_id = OLD.link_id);
    RETURN NULL;
END $$;
CREATE TRIGGER qrcodes_after_delete AFTER DELETE ON qrcodes_qrcode
    FOR EACH ROW EXECUTE FUNCTION qrcodes_after_delete();

CREATE FUNCTION qrcodes_after_final_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM links_link WHERE id = OLD.link_id) THEN
        INSERT INTO qrcodes_qrcode (
            id, public_id, token, link_id, owner_id, digest, content, size, format, level, foreground, background,
            margin, style, logo, created_at
        )
        SELECT c.id, c.public_id, c.token, c.link_id, c.owner_id, c.digest, c.content, c.size, c.format, c.level,
            c.foreground, c.background, c.margin, c.style, c.logo, c.created_at
        FROM qrcodes_deletedqrcode d, jsonb_populate_record(NULL::qrcodes_qrcode, d.code) c
        WHERE d.link_id = OLD.link_id;
    END IF;
    DELETE FROM qrcodes_deletedqrcode WHERE link_id = OLD.link_id;
    RETURN NULL;
END $$;
CREATE TRIGGER qrcodes_after_final_deletion AFTER DELETE ON links_deletedlink
    FOR EACH ROW EXECUTE FUNCTION qrcodes_after_final_deletion();
"""
DELETED_LINKS_BACK = """
DROP TRIGGER qrcodes_after_final_deletion ON links_deletedlink;
DROP FUNCTION qrcodes_after_final_deletion;
DROP FUNCTION qrcodes_after_delete CASCADE;
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('links', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='QrCode',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('public_id', models.UUIDField(default=common.ids.new_public_id, editable=False, unique=True, db_comment='API id.')),
                ('token', models.CharField(default=qrcodes.models.new_token, editable=False, max_length=22, db_comment="Secret part of the image's URL.")),
                ('digest', models.BinaryField(db_comment='Digest of content and design.')),
                ('content', models.TextField(db_comment='The text in the code.')),
                ('size', models.PositiveSmallIntegerField(db_comment='Width in pixels.')),
                ('format', models.CharField(choices=[('png', 'Png'), ('svg', 'Svg'), ('jpeg', 'Jpeg')], max_length=4, db_comment='png, svg or jpeg.')),
                ('level', models.CharField(choices=[('L', 'Low'), ('M', 'Medium'), ('Q', 'Quartile'), ('H', 'High')], max_length=1, db_comment='Error correction: L, M, Q or H.')),
                ('foreground', models.CharField(max_length=7, db_comment='Colour, #RRGGBB.')),
                ('background', models.CharField(max_length=7, db_comment='Colour, #RRGGBB.')),
                ('margin', models.PositiveSmallIntegerField(db_comment='Quiet zone, in modules.')),
                ('style', models.CharField(choices=[('square', 'Square'), ('rounded', 'Rounded'), ('dots', 'Dots')], max_length=7, db_comment='square, rounded or dots.')),
                ('logo', models.BinaryField(null=True, db_comment='Image file; null: none.')),
                ('has_logo', models.GeneratedField(db_persist=True, expression=models.Q(('logo__isnull', False)), output_field=models.BooleanField(), db_comment='Whether there is a logo.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, db_comment='Creation time.')),
                ('link', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='qr_codes', to='links.link', db_comment='The link.')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL, db_comment='Owner of the link.')),
            ],
            options={
                'db_table_comment': 'QR codes. Rows never change, because a code may be printed.',
                'verbose_name': 'QR code',
                'indexes': [models.Index(fields=['owner', '-id'], name='qrcode_owner')],
                'constraints': [models.UniqueConstraint(fields=('link', 'digest'), name='qrcode_once'), models.UniqueConstraint(fields=('token',), name='qrcode_token')],
            },
        ),
        migrations.CreateModel(
            name='DeletedQrCode',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField(db_comment='The deleted link.', db_index=True)),
                ('code', models.JSONField(db_comment='The row of qrcodes_qrcode.')),
            ],
            options={'db_table_comment': 'QR codes of deleted links that can be brought back.'},
        ),
        migrations.RunSQL(DELETED_LINKS, DELETED_LINKS_BACK),
        migrations.RunSQL(CASCADE, "ALTER TABLE qrcodes_qrcode DROP CONSTRAINT qrcode_link"),
    ]
