"""Access keys, issuers and tokens by the command line: what is made lets in, and only what it was made for."""

from pathlib import Path

import pytest

from livewell.access import ANONYMOUS, AccessStore, Doorkeeper, InvalidCredential, Readers, RevokedCredential, Scope
from livewell.budgets import KeySources
from livewell.kernel import Database, DatabaseOptions
from livewell.registry import UnknownType
from livewell.testing import Address, OwnServer, make_type
from tests.acceptance.command import Cli

SECRET = "a secret of this test that nobody guesses, as long as any algorithm wants one to be"
DECLARED = """
[access.issuer.app]
issuer = "https://login.example"
audience = "livewell"
algorithm = "HS256"
secret_file = "{folder}/secret"
tenant_claim = "org"
scopes_claim = "scope"
scopes = {{ steer = "operator" }}
"""


async def test_a_key_is_made_used_listed_and_revoked(owner_cli: Cli, database: Database) -> None:
    """It is shown once and nowhere again; it lets in until it is revoked, and then nobody."""
    ran = await owner_cli("access", "key", "grafana", "--scope", "observer", "--tenant", "red", "--for", "1d", "--json")
    key, key_id = ran.json["key"], ran.json["id"]
    door = Doorkeeper(database, sources=KeySources())
    found = await door.admit(key)
    assert found.scopes == {Scope.OBSERVER}
    assert (found.tenant, found.access_key) == ("red", key_id)
    assert found.expires_at is not None
    listed = await owner_cli("access", "keys")
    assert key_id in listed.out
    assert key not in listed.out
    assert "revoked" in (await owner_cli("access", "revoke", key_id, "--reason", "lost")).out
    assert "was revoked before" in (await owner_cli("access", "revoke", key_id)).out
    with pytest.raises(RevokedCredential):
        await door.admit(key)
    assert key not in str(await database.fetch("select * from livewell.list_audit()"))


async def test_keys_are_for_the_owner_to_make(cli: Cli, owner_cli: Cli) -> None:
    """The service may list them; who asks for what there is not is told."""
    assert "[kernel.not_permitted]" in (await cli("access", "key", "x", "--scope", "service", code=1)).err
    assert "[kernel.not_permitted]" in (await cli("access", "revoke", "0" * 12, code=1)).err
    assert (await cli("access", "keys", "--json")).json == []
    assert "unknown scope" in (await owner_cli("access", "key", "x", "--scope", "root", code=2)).err
    assert "[access.invalid_access_key]" in (await owner_cli("access", "key", "x", "--scope", "user", code=1)).err
    assert "[access.unknown_access_key]" in (await owner_cli("access", "revoke", "x'; --", code=1)).err


async def test_an_issuer_is_declared_and_a_token_of_it_lets_in(
    owner_cli: Cli, database: Database, tmp_path: Path
) -> None:
    """Planned, applied and applied again; a token made here is of the user it names, with the claims it was given."""
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "livewell.toml").write_text(DECLARED.format(folder=tmp_path))
    planned = await owner_cli("apply", "--plan")
    assert "+ issuer app (HS256 tokens of https://login.example)" in planned.out
    await owner_cli("apply", "--yes")
    assert "nothing to change" in (await owner_cli("apply", "--yes")).out
    ran = await owner_cli(
        "token", "app", "--user", "ada", *("--claim", "org=red", "--claim", "scope=steer", "--claim", "n=7")
    )
    door = Doorkeeper(database, sources=KeySources(folders=(tmp_path,)))
    found = await door.admit(ran.out.strip())
    assert (found.user, found.tenant, found.claims["n"]) == ("ada", "red", 7)
    assert found.scopes == {Scope.USER, Scope.OPERATOR}
    assert SECRET not in ran.out + ran.err
    assert "unknown issuer" in (await owner_cli("token", "other", "--user", "ada", code=2)).err
    (tmp_path / "secret").write_text("x" * 40)
    with pytest.raises(InvalidCredential):
        await door.admit(ran.out.strip())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('algoritm = "HS256"', 'unknown field "algoritm" (did you mean "algorithm"?) [access.unknown_field]'),
        ('algorithm = "none"', "algorithm should be"),
        ('jwks_url = "https://login.example/keys"', "an issuer is verified in one way"),
        ('role = "postgres"', "role postgres may do more than a viewer"),
        ('leeway = "1h"', "issuer_leeway_is_small"),
    ],
)
async def test_a_wrong_issuer_is_told_with_its_line(owner_cli: Cli, tmp_path: Path, wrong: str, said: str) -> None:
    """Where it stands in the file, what is wrong, and nothing is applied."""
    declared = DECLARED.format(folder=tmp_path)
    if wrong.startswith("algorithm ="):
        declared = declared.replace('algorithm = "HS256"\n', "")
    (tmp_path / "livewell.toml").write_text(declared + wrong + "\n")
    ran = await owner_cli("apply", "--yes", code=2)
    assert said in ran.err
    assert "livewell.toml:" in ran.err


async def test_the_reader_reads_for_viewers(
    owner_cli: Cli, owner: Database, database: Database, owner_url: str
) -> None:
    """`access login --as reader` makes a login that inherits nothing and can be any viewer; it reads for them."""
    ran = await owner_cli("access", "login", "livewell_try_viewers", "--as", "reader", "--json")
    assert ran.json["member_of"] == "livewell_user, livewell_anon"
    try:
        await make_type(owner, "quote", read_rule="public")
        url = Address.of(owner_url)
        there = Address(**{**vars(url), "user": "livewell_try_viewers", "password": ran.json["password"]}).url
        async with Readers.open(database, there) as readers:
            found = await readers.read(await readers.class_of(ANONYMOUS, "quote"), "quote", ["A"])
            assert found["A"].visible
    finally:
        await owner.execute("drop role livewell_try_viewers")


async def test_the_embedded_server_brings_a_reader(own_server: OwnServer) -> None:
    """Without anybody's doing there is a login that reads for viewers, and it is no more than that."""
    url = own_server.embedded.service_url()
    async with (
        await Database.open(DatabaseOptions(url=url)) as database,
        Readers.open(database, own_server.embedded.reader_url()) as readers,
    ):
        with pytest.raises(UnknownType):
            await readers.class_of(ANONYMOUS, "nothing")


async def test_subjects_are_shared_and_unshared(cli: Cli, database: Database) -> None:
    """The service shows whose they are, shares them and takes that back; what is not there is told."""
    store = AccessStore(database)
    await store.create_subject("patient-7", "patient", owner="ada")
    assert "bob may write patient-7" in (await cli("subjects", "share", "patient-7", "bob", "--write")).out
    (listed,) = (await cli("subjects", "list", "--owner", "ada", "--json")).json
    assert (listed["id"], listed["shares"]) == ("patient-7", 1)
    (share,) = (await cli("subjects", "shares", "patient-7", "--json")).json
    assert (share["user_id"], share["rights"]) == ("bob", "write")
    assert "bob has no part in patient-7" in (await cli("subjects", "unshare", "patient-7", "bob")).out
    assert await store.list_shares("patient-7") == []
    assert "[access.unknown_subject]" in (await cli("subjects", "share", "nobody's", "bob", code=1)).err
    await store.remove_subject("patient-7")
    assert await store.list_subjects() == []
