"""The longest files, to look at, not to fail on: `python -m tests.house.sizes`."""

from tests.house.project import place, tracked

_EXPECTED = 300


def report() -> None:
    sizes = [
        (len(path.read_text(encoding="utf-8").splitlines()), place(path))
        for path in tracked()
        if path.suffix in {".py", ".sql"} and not place(path).startswith("schema/")
    ]
    long = [(lines, name) for lines, name in sorted(sizes, reverse=True) if lines > _EXPECTED]
    if long:
        print(f"longer than {_EXPECTED} lines (a concept may be missing):")  # noqa: T201
    for lines, name in long:
        print(f"{lines:6} {name}")  # noqa: T201


if __name__ == "__main__":
    report()
