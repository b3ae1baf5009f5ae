"""A process reads as a key only what its own surroundings allow."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.budgets import KeyNotAllowed, KeyRing, KeySources, KeyUnreadable

ENVIRONMENT = {
    "ACME_API_KEY": "key",
    "MYAPP_ACME": "key",
    "PGPASSWORD": "no key",
    "DATABASE_URL": "no key",
    "AWS_SECRET_ACCESS_KEY": "no key",
    "SECRET_KEY": "no key",
    "GITHUB_TOKEN": "no key",
}


def _readable(sources: KeySources) -> set[str]:
    ring, found = KeyRing(ENVIRONMENT, sources=sources), set()
    for name in ENVIRONMENT:
        try:
            ring.read(f"env:{name}")
        except KeyNotAllowed:
            continue
        found.add(name)
    return found


def test_only_what_is_called_an_api_key_is_read_unless_more_is_said() -> None:
    """Where nobody said anything, `*_API_KEY` is read: not passwords, addresses, tokens, other keys."""
    assert _readable(KeySources.from_environment({})) == {"ACME_API_KEY"}


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("MYAPP_*", {"MYAPP_ACME"}),
        ("ACME_API_KEY, MYAPP_ACME", {"ACME_API_KEY", "MYAPP_ACME"}),
        ("acme_api_key", set()),
        ("ACME", set()),
        ("", set()),
    ],
)
def test_what_is_said_is_all_that_is_read(said: str, read: set[str]) -> None:
    """Names and patterns replace the usual ones, letter by letter; an option wins over the environment."""
    assert _readable(KeySources.from_environment({"LIVEWELL_KEY_VARIABLES": said})) == read
    assert _readable(KeySources.from_environment({"LIVEWELL_KEY_VARIABLES": "X"}, variables=said)) == read


@pytest.mark.parametrize("said", ["*", "_", "**", "A B", "A?", "[A-Z]*", "ACME_API_KEY;B", "env:A"])
def test_a_pattern_that_allows_everything_is_refused(said: str) -> None:
    """What is no name, or would let any variable out, does not start."""
    with pytest.raises(KeyNotAllowed, match="allows everything or is no name"):
        KeySources.from_environment({"LIVEWELL_KEY_VARIABLES": said})


def test_what_the_file_of_a_process_declares_is_read(tmp_path: Path) -> None:
    """The sources of the `livewell.toml` a process runs with, each as it is written there, and no more."""
    (tmp_path / "key").write_text("key")
    (tmp_path / "other").write_text("no key")
    sources = KeySources().and_declared(["env:MYAPP_ACME", f"file:{tmp_path / 'key'}"])
    assert _readable(sources) == {"ACME_API_KEY", "MYAPP_ACME"}
    ring = KeyRing({}, sources=sources)
    assert ring.read(f"file:{tmp_path / 'key'}").reveal() == "key"
    for other in ("other", "./key", "../key", "key/../other"):
        with pytest.raises(KeyUnreadable):
            ring.read(f"file:{tmp_path}/{other}x")
    with pytest.raises(KeyNotAllowed):
        ring.read(f"file:{tmp_path / 'other'}")


def test_files_are_read_below_the_folders_that_are_said(tmp_path: Path) -> None:
    """In a folder and below it; not beside it, not by `..`, not through a link that leads out, however it is named."""
    keys, outside = tmp_path / "keys", tmp_path / "keys-beside"
    (keys / "deep").mkdir(parents=True)
    outside.mkdir()
    for place in (keys / "a", keys / "deep" / "b", outside / "c"):
        place.write_text("key")
    (keys / "link").symlink_to(outside / "c")
    (keys / "folder").symlink_to(outside)
    (keys / "within").symlink_to(keys / "deep" / "b")
    (keys / "loop").symlink_to(keys / "loop")
    ring = KeyRing({}, sources=KeySources.from_environment({"LIVEWELL_KEY_FILES": f"/nowhere{os.pathsep}{keys}"}))
    for inside in ("a", "deep/b", "within"):
        assert ring.read(f"file:{keys}/{inside}").reveal() == "key"
    for out in ("link", "folder/c", "../keys-beside/c", "deep/../a", "../keys/a"):
        with pytest.raises(KeyNotAllowed, match="it is not in a folder this process may read keys from"):
            ring.read(f"file:{keys}/{out}")
    with pytest.raises(KeyUnreadable):
        ring.read(f"file:{keys}/loop")


def test_whether_a_file_is_there_is_not_told(tmp_path: Path) -> None:
    """What may not be read is refused in the same words whether or not it is there."""
    (tmp_path / "key-a").write_text("secret")
    said = set()
    for name in ("key-a", "key-b"):
        with pytest.raises(KeyNotAllowed) as refused:
            KeyRing({}).read(f"file:{tmp_path / name}")
        said.add(str(refused.value).replace(name, "NAME"))
    assert len(said) == 1


def test_a_file_everybody_may_write_is_no_key(tmp_path: Path) -> None:
    """Somebody else could have put there what goes out; also when it was read before."""
    ring, path = KeyRing({}, sources=KeySources(folders=(tmp_path,))), tmp_path / "key"
    path.write_text("key")
    assert ring.read(f"file:{path}").reveal() == "key"
    path.chmod(0o666)
    with pytest.raises(KeyUnreadable, match="everybody may write it"):
        ring.read(f"file:{path}")


def test_a_link_that_is_turned_later_is_followed_again(tmp_path: Path) -> None:
    """A file that was read before is refused once its link leads out of the folder."""
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "real").write_text("key")
    (tmp_path / "outside").write_text("key")
    (keys / "link").symlink_to(keys / "real")
    ring = KeyRing({}, sources=KeySources(folders=(keys,)))
    assert ring.read(f"file:{keys}/link").reveal() == "key"
    (keys / "link").unlink()
    (keys / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(KeyNotAllowed):
        ring.read(f"file:{keys}/link")


@given(st.text(min_size=1, max_size=60))
def test_no_name_leads_out_of_the_folders(name: str) -> None:
    """Whatever a source says, nothing but keys below the folders is opened, and the refusal is a fact."""
    with pytest.raises(KeyUnreadable):
        KeyRing({}, sources=KeySources(folders=(Path("/nowhere/at/all"),))).read(f"file:/etc/{name}")
