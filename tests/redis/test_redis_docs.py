"""docs/REDIS.md: its tables of commands are those of the code, its settings are those of the
server, and every example in it is run and answers what the page says; those of the command at a
cluster. `test_redis_docs.py --accept` writes the tables and the answers anew."""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import transcript  # noqa: E402
from cluster_servers import cluster  # noqa: E402
from redis_client import BUILD, SOURCE, Server, main  # noqa: E402

PAGE = SOURCE / "docs/REDIS.md"
OTHERS = [SOURCE / "docs/coming-from" / name for name in ("redisbloom.md", "hyperloglog.md")]
FAMILIES = ("BF", "CF", "CMS", "TOPK", "TDIGEST", "TAMIS")


def with_tables(text):
    for family in FAMILIES:
        table = subprocess.run([BUILD / "redis-commands", family], capture_output=True, text=True,
                               check=True).stdout
        mark = f"<!-- commands {family} -->\n"
        assert text.count(mark) == 2, family
        before, _, after = text.split(mark)
        text = before + mark + table + mark + after
    return text


def with_answers(text):
    """Blocks of ```redis: a line that begins with a blank is an answer, any other a command for
    redis-cli."""
    def answered(block):
        out = []
        for line in block[1].splitlines():
            if line.startswith(" ") or not line:
                continue
            done = subprocess.run(["redis-cli", "-p", str(server.port), "--no-raw"],
                                  input=line + "\n", capture_output=True, text=True)
            out += [line, *(" " + answer for answer in done.stdout.splitlines() if answer)]
        return "```redis\n" + "\n".join(out) + "\n```"
    with Server() as server:
        return re.sub(r"```redis\n(.*?)```", answered, text, flags=re.S)


def with_sessions(text):
    """Blocks of ```console, as everywhere else; localhost:7001 is a node of a cluster. None, when
    the command cannot."""
    if "built without hiredis" in "".join(transcript.run("tamis info redis://localhost/a", ".")):
        return None

    def answered(block):
        lines = block[1].replace("localhost:7001", there).rstrip("\n").split("\n")
        done, _ = transcript.session(lines, room, PAGE)
        return "```console\n" + "\n".join(done).replace(there, "localhost:7001") + "\n```"
    with cluster(3, 1) as servers, tempfile.TemporaryDirectory() as room:
        there = f"localhost:{servers.servers[0].port}"
        return re.sub(r"```console\n(.*?)```", answered, text, flags=re.S)


def test_tables():
    text = PAGE.read_text()
    assert with_tables(text) == text, "the tables are not those of the code: --accept"


def test_examples():
    for page, least in ((PAGE, 3), (SOURCE / "README.md", 1), *((page, 2) for page in OTHERS)):
        text = page.read_text()
        assert text.count("```redis\n") >= least, page
        assert with_answers(text) == text, f"{page}: answers have changed: --accept, and read them"


def test_sessions():
    text = PAGE.read_text()
    assert text.count("```console\n") >= 2
    assert with_sessions(text) in (text, None), "answers have changed: --accept, and read them"


def test_settings():
    text = PAGE.read_text()
    with Server() as server:
        pairs = server.client().text("CONFIG", "GET", "bf.*")
        for name, value in zip(pairs[::2], pairs[1::2]):
            assert re.search(rf"^\| `{re.escape(name)}` \| {re.escape(value)} \|", text, re.M), \
                (name, value)
        assert len(re.findall(r"^\| `bf\.", text, re.M)) == len(pairs) // 2


if __name__ == "__main__":
    if sys.argv[1:] == ["--accept"]:
        PAGE.write_text(with_answers(with_tables(PAGE.read_text())))
        PAGE.write_text(with_sessions(PAGE.read_text()) or PAGE.read_text())
        for other in OTHERS:
            other.write_text(with_answers(other.read_text()))
        sys.exit()
    main([test_tables, test_examples, test_sessions, test_settings])
