"""Record the checksum of every migration not recorded yet: `python -m tests.house.landed`."""

import hashlib
import json
from pathlib import Path

from tests.house.project import migrations


def record() -> None:
    path = Path(__file__).with_name("landed_migrations.json")
    landed: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for migration in migrations():
        landed.setdefault(migration.name, hashlib.sha256(migration.read_bytes()).hexdigest())
    path.write_text(json.dumps(landed, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
