"""docs/SQL.md, and docs/coming-from/hyperloglog.md: every example is run and answers what the page
says. `test_sql_docs.py --accept` writes the answers anew.

Blocks of ```sql are run in PostgreSQL, those of ```sqlite in SQLite, and those of ```console by a
shell whose psql finds the server. The comments after a query are its rows."""
import contextlib
import os
import pathlib
import re
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import transcript  # noqa: E402
from postgres_server import BUILD, SOURCE, Server  # noqa: E402

PAGES = [SOURCE / "docs/SQL.md", SOURCE / "docs/coming-from/hyperloglog.md"]


def shown(value):
    return {True: "t", False: "f"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def answered(block, run):
    """The block with what `run` returns for each statement: rows, or None if it has none."""
    out, statement, drop = [], [], False
    for line in block.splitlines():
        comment = line.startswith("--") and not statement
        if comment and drop:
            continue
        drop = drop and comment
        out.append(line)
        if comment:
            continue
        statement.append(line)
        if line.endswith(";"):
            rows = run("\n".join(statement))
            statement = []
            drop = rows is not None
            out += ["-- " + " | ".join(map(shown, row)) for row in rows or []]
    assert not statement, statement
    return "\n".join(out)


def with_answers(text, server, room):
    with contextlib.closing(server.connect()) as postgres, \
            contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as sqlite:
        sqlite.enable_load_extension(True)
        sqlite.load_extension(str(BUILD / "sql/tamis_sqlite"))

        def in_postgres(statement):
            with postgres.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else None

        def in_sqlite(statement):
            cursor = sqlite.execute(statement)
            return cursor.fetchall() if cursor.description else None

        def in_shell(block):
            done, _ = transcript.session(block.rstrip("\n").split("\n"), room, PAGES[0])
            return "\n".join(done)

        runners = {"sql": lambda block: answered(block, in_postgres),
                   "sqlite": lambda block: answered(block, in_sqlite), "console": in_shell}

        def replaced(match):
            return f"```{match[1]}\n{runners[match[1]](match[2])}\n```"
        return re.sub(r"```(sql|sqlite|console)\n(.*?)\n```", replaced, text, flags=re.S)


def check_readme(server):
    """The lines of SQL in the README work, with tables as they name them."""
    block = re.search(r"```sql\n(.*?)```", (SOURCE / "README.md").read_text(encoding="utf-8"),
                      flags=re.S)[1]
    with contextlib.closing(server.connect()) as db, db.cursor() as cursor:
        cursor.execute("""DROP TABLE IF EXISTS visits, log, blocklist;
            CREATE TABLE visits AS SELECT i % 50 AS user_id FROM generate_series(1, 1000) AS i;
            CREATE TABLE log AS SELECT i % 10 AS query, i % 100 AS address
                FROM generate_series(1, 1000) AS i;
            CREATE TABLE blocklist AS SELECT tamis_seal_agg(i, 1e-6) AS f
                FROM generate_series(0, 6) AS i""")
        counts = []
        for statement in block.strip().split(";\n"):
            cursor.execute(statement)
            rows = cursor.fetchall()
            counts.append(rows[0][0] if len(rows) == 1 else len(rows))
    assert counts == [50, 10, 70], counts


def check(page, server, accept):
    text = page.read_text(encoding="utf-8")
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as room:
        os.chdir(room)  # where SQLite's examples write their files
        found = with_answers(text, server, room)
        os.chdir(before)
    if accept:
        page.write_text(found, encoding="utf-8")
    elif found != text:
        wrong = [f"-{a}\n+{b}" for a, b in zip(text.splitlines(), found.splitlines()) if a != b]
        sys.exit(f"{page} says otherwise:\n" + "\n".join(wrong[:5]))


def main():
    for page in PAGES:
        with Server() as server:
            os.environ.update(PGHOST="127.0.0.1", PGPORT=str(server.port), PGUSER="tamis",
                              PGDATABASE="postgres")
            check(page, server, "--accept" in sys.argv)
            if page == PAGES[0]:
                check_readme(server)
    print("ok")


main()
