"""Finds the secret of a webhook in the settings, in a file beside them or in the environment."""

import os
from pathlib import Path

from sanderling.errors import BadSetting
from sanderling.settings import Webhook
from sanderling.telling.webhook import key


def secret_of(webhook: Webhook, folder: Path) -> str:
    """The secret that signs deliveries. It is empty if they are not signed."""
    secret = webhook.secret
    if webhook.secret_env:
        secret = os.environ.get(webhook.secret_env, "")
        if not secret:
            raise BadSetting(f"webhook: the environment variable {webhook.secret_env} is not set")
    if webhook.secret_file:
        try:
            secret = (folder / webhook.secret_file).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadSetting(
                f"webhook: the secret in {webhook.secret_file} cannot be read: {error.strerror if isinstance(error, OSError) else error}"
            ) from None
    try:
        key(secret)
    except ValueError as error:
        raise BadSetting(f"webhook: {error}") from None
    return secret
