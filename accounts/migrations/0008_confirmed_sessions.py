from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_passkey_handles"),
    ]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="read_at",
            field=models.DateTimeField(db_comment="When its owner first read it. Null: not yet.", null=True),
        ),
        migrations.AddField(
            model_name="session",
            name="confirmed_at",
            field=models.DateTimeField(
                db_comment="When the user of a browser last logged in or confirmed it again. Null: at the login.",
                null=True,
            ),
        ),
    ]
