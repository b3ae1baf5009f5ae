"""The prepared server in the user's cache: used when it is there, never half-made, never many."""

import os
from pathlib import Path

import pytest

from livewell.kernel import EmbeddedPostgres
from livewell.testing import prepared
from livewell.testing.prepared import begin_as_copy, template_name
from livewell.testing.throwaway import make_folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "livewell" / "testing"
    folder.mkdir(parents=True)
    return folder


async def _name_for(embedded: EmbeddedPostgres) -> str:
    version = (await embedded.prepared()).binaries.version
    return f"postgresql-{version}-{template_name().removeprefix('livewell_template_')}"


async def test_a_server_begins_as_a_copy_of_the_prepared_one(cache: Path, own_folder: Path) -> None:
    """What the cache holds for today's SQL files and programs is copied, and made by nobody again."""
    embedded = EmbeddedPostgres(own_folder)
    kept = cache / await _name_for(embedded)
    kept.mkdir()
    (kept / "PG_VERSION").write_text("18")
    await begin_as_copy(embedded)
    assert [path.name for path in (await embedded.prepared()).place.data.iterdir()] == ["PG_VERSION"]


async def test_a_server_with_data_keeps_them(cache: Path, own_folder: Path) -> None:
    """Whoever comes second finds the first one's copy and leaves it alone."""
    embedded = EmbeddedPostgres(own_folder)
    data = (await embedded.prepared()).place.data
    data.mkdir()
    await begin_as_copy(embedded)
    assert list(data.iterdir()) == list(cache.iterdir()) == []


async def test_the_cache_stays_small(cache: Path, own_folder: Path) -> None:
    """The newest few are kept; older ones and what a killed process left half-made are removed."""
    embedded = EmbeddedPostgres(own_folder)
    for age, name in enumerate(["oldest", "older", "old", "young", await _name_for(embedded)]):
        (cache / name).mkdir()
        os.utime(cache / name, (age, age))
    (cache / "unfinished-1").mkdir()
    await begin_as_copy(embedded)
    left = {path.name for path in cache.iterdir() if path.is_dir()}
    assert left == {"old", "young", await _name_for(embedded)}
    assert len(left) == prepared.KEPT


def test_a_temporary_folder_that_is_named_is_obeyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With TMPDIR set, throwaway folders are made there and not in memory."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert make_folder().parent == tmp_path
