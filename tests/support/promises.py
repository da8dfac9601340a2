"""What version 1 has promised, by name: tests/abi/promises.txt has a line for each option, JSON
field, command of Redis, function of SQL, and name of the Python and the npm package. A test
collects the lines of today and calls keep(). More lines may appear; none may disappear.

    TAMIS_PROMISES=add ctest --test-dir build -R promises

adds new lines to the file, when a release promises them."""
import os
import pathlib

FILE = pathlib.Path(os.environ["TAMIS_SOURCE"]) / "tests/abi/promises.txt"


def missing(section, today, promised):
    """Lines of a section that are promised and not kept."""
    return sorted(line for line in promised
                  if line.startswith(section + " ") and line not in today)


def keep(section, names):
    """Fails unless all names are there that the file has promised."""
    today = {f"{section} {' '.join(name.split())}" for name in names}
    assert len(today) > 5, f"{section}: the names are written otherwise now"
    promised = set(FILE.read_text().splitlines()) if FILE.exists() else set()
    # The comparison works: each line would be missed.
    assert missing(section, today - {max(today)}, today) == [max(today)]
    if os.environ.get("TAMIS_PROMISES") == "add":
        FILE.write_text("".join(f"{line}\n" for line in sorted(promised | today)))
        promised |= today
    assert any(line.startswith(section + " ") for line in promised), f"{section}: no promises"
    gone = missing(section, today, promised)
    assert not gone, "promised by version 1, and gone:\n" + "\n".join(gone)
