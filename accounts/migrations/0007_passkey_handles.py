import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import accounts.models.accounts


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_staff_by_provider"),
    ]

    operations = [
        migrations.CreateModel(
            name="PasskeyHandle",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        db_comment="The account.",
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="passkey_handle",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "handle",
                    models.BinaryField(
                        db_comment="Random. Reveals nothing about the account.",
                        default=accounts.models.accounts.new_handle,
                        max_length=64,
                        unique=True,
                    ),
                ),
            ],
            options={
                "db_table_comment": "User handles of passkeys.",
            },
        ),
    ]
