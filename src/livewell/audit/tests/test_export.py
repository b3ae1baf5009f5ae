"""An export proves itself without the database."""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.audit import AuditStore, Exporter, Head, NewEntry, Problem, UnknownHead, Verifier, verify_export
from livewell.testing import effort

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
WORD = st.text(string.ascii_lowercase, min_size=1, max_size=8)
ENTRY = st.builds(
    NewEntry,
    event=WORD,
    table_name=st.none() | TEXT,
    record_id=st.none() | TEXT,
    operation=st.none() | WORD,
    old=JSON,
    new=JSON,
    reason=st.none() | TEXT,
    actor=st.none() | TEXT,
    subject=st.none() | TEXT,
    job_id=st.none() | st.integers(0, 10**18 - 1),
    detail=JSON,
)


async def _lines(store: AuditStore, after: int = 0) -> list[bytes]:
    return [line async for line in Exporter(store, portion=2).lines(after=after)]


@effort(60)
@given(entries=st.lists(ENTRY, min_size=1, max_size=4), data=st.data())
async def test_any_entry_has_one_form_in_sql_and_in_python(
    store: AuditStore, entries: list[NewEntry], data: Any
) -> None:
    """Whatever JSON and text an entry holds, SQL and Python hash it alike, and a changed byte is found."""
    before = (await store.read_state()).head
    await store.write_entries(entries)
    await store.seal_entries(100)
    after = (await store.read_state()).head
    lines = await _lines(store, before.number)
    verification = verify_export(lines, expected=after)
    assert (verification.findings, verification.entries, verification.head) == ((), len(entries), after)
    assert await store.verify_seals(before.number, after.number) == []

    which = 1 + data.draw(st.integers(0, len(entries) - 1)) if before.number else 0
    where = data.draw(st.integers(0, len(lines[which]) - 2))
    altered = bytearray(lines[which])
    altered[where] ^= 1
    assert not verify_export([*lines[:which], bytes(altered), *lines[which + 1 :]]).intact


@pytest.fixture
async def head(store: AuditStore) -> Head:
    """Four seals of two entries, and one entry more."""
    for _ in range(4):
        await store.write_entries([NewEntry(event="price_changed")] * 2)
        await store.seal_entries(10)
    await store.write_entries([NewEntry(event="price_changed")])
    return (await store.read_state()).head


async def test_an_export_states_its_head_and_the_unsealed_tail(store: AuditStore, head: Head) -> None:
    """The file ends with the head of the chain and with how many entries are not in it."""
    verification = verify_export(await _lines(store), expected=head)
    assert verification.intact
    assert (verification.head, verification.entries, verification.unsealed_entries) == (head, 8, 1)


async def test_an_export_can_go_on_where_the_last_one_ended(store: AuditStore, head: Head) -> None:
    """A later part begins with the head it follows, and verifies by itself and against any head it holds."""
    third = await store.read_head(3)
    lines = await _lines(store, 2)
    for expected in (None, await store.read_head(2), third, head):
        verification = verify_export(lines, expected=expected)
        assert (verification.findings, verification.entries) == ((), 4)
    with pytest.raises(UnknownHead, match="holds no seal number 1"):
        verify_export(lines, expected=await store.read_head(1))
    with pytest.raises(UnknownHead):
        await _lines(store, 9)


# A seal of this export is four lines: two entries, the seal, its head.
@pytest.mark.parametrize(
    ("kept", "problem"),
    [
        ([0, 2, 3, *range(4, 17)], Problem.ENTRY_DELETED),
        ([1, 0, *range(2, 17)], Problem.ENTRY_REORDERED),
        ([0, 1, 4, *range(2, 17)], Problem.ENTRY_INSERTED),
        ([0, 1, 2, 3, *range(8, 17)], Problem.SEAL_MISSING),
        ([4, 5, 6, 7, 0, 1, 2, 3, *range(8, 17)], Problem.CHAIN_BROKEN),
        (list(range(16)), Problem.TAIL_CUT),
        (list(range(14)), Problem.TAIL_CUT),
        ([*range(12), 16], Problem.TAIL_CUT),
        (list(range(8)), Problem.TAIL_CUT),
        ([], Problem.TAIL_CUT),
    ],
)
async def test_a_file_with_lines_missing_or_moved_does_not_verify(
    store: AuditStore, head: Head, kept: list[int], problem: Problem
) -> None:
    """Lines taken out, exchanged, put in or cut off at the end are each found for what they are."""
    lines = await _lines(store)
    assert len(lines) == 17
    assert problem in {finding.problem for finding in verify_export([lines[n] for n in kept]).findings}


async def test_a_file_cut_cleanly_is_found_by_a_head(store: AuditStore, head: Head) -> None:
    """A file shortened at a seal and given an ending of its own is whole in itself; the kept head proves the cut."""
    older = await store.read_head(2)
    ending = b'{"end": 2, "hash": "' + older.hash.encode() + b'", "unsealed": 0}\n'
    shortened = [*(await _lines(store))[:8], ending]
    assert verify_export(shortened).intact
    assert [finding.problem for finding in verify_export(shortened, expected=head).findings] == [Problem.TAIL_CUT]


async def test_a_head_is_written_and_read_in_one_form(store: AuditStore, head: Head) -> None:
    """NUMBER:HASH is what people keep; anything else is refused with a fact."""
    assert Head.parse(str(head)) == head
    assert (await Verifier(store).run(expected=Head.parse(f" {str(head).upper()}\n"))).intact
    for text in ("", "4", "4:xyz", f"-1:{head.hash}"):
        with pytest.raises(UnknownHead):
            Head.parse(text)
