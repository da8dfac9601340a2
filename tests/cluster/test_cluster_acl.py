"""Users who may do only what docs/REDIS.md lists: every command works for them, and without any one
of these permissions some command fails with an error that names it."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from cluster_servers import cluster, lines, move, tamis  # noqa: E402
from redis_client import PATIENCE, SOURCE, TAMIS, Server, main  # noqa: E402

CLUSTER = None
PASSWORD = "p@ss word"
DOCUMENT = (SOURCE / "docs/REDIS.md").read_text()


def documented(user):
    """The words after ACL SETUSER in docs/REDIS.md."""
    block = re.search(r"```acl\n(.*?)```", DOCUMENT, re.S)[1]
    line = next(line for line in block.splitlines() if line.startswith(f"ACL SETUSER {user} "))
    return [f">{PASSWORD}" if word == ">PASSWORD" else word for word in line.split()[2:]]


def allow(words):
    for server in CLUSTER.servers:
        client = server.client()
        client.do("ACL", "DELUSER", words[0])
        client.do("ACL", "SETUSER", *words)


def at(name, user):
    return CLUSTER.url(name).replace("//", f"//{user}:@")


def try_it(words, given):
    """Empty, or what it prints to standard error, if it fails or prints a note."""
    done = subprocess.run([TAMIS, *map(str, words)], input=given.encode(), capture_output=True,
                          timeout=PATIENCE,
                          env=dict(os.environ, TAMIS_REDIS_PASSWORD=PASSWORD))
    said = done.stderr.decode()
    assert done.returncode in (0, 2) and (done.returncode == 0 or said), (words, done)
    assert PASSWORD not in said and "reader" not in said and "writer" not in said, said
    return said


NEVER_FILE = tempfile.NamedTemporaryFile(prefix="tamis-never-")
NEVER_FILE.write(b"never\n")
NEVER_FILE.flush()
NEVER = NEVER_FILE.name
READING = [(("check", "seen-a"), "a\n"), (("freq", "seen-n", "a"), ""), (("top", "seen-t"), ""),
           (("distinct", "seen-d"), ""), (("info", "seen-a"), ""), (("check", "seen-plain"), "a\n"),
           (("check", "seen-moving"), "a\n")]
WRITING = [(("build", "-f", "--items", 10, "-o", "seen-b"), "a\n"),
           (("build", "-f", "--items", 10, "-o", "seen-b"), "a\n"),  # in place of the first
           (("build", "-f", "--items", 10, "--kind", "ribbon", "-o", "seen-r"), "a\n"),
           (("build", "-f", "--items", 9, "--kind", "exact", "--never", NEVER, "-o", "seen-e"),
            "a\n"),
           (("count", "-f", "-o", "seen-c"), "a\n"),
           (("count", "-f", "--weight-field", 1, "-o", "seen-c"), "2\n"),
           (("distinct", "-f", "-o", "seen-f"), "a\n"),
           (("build", "-f", "--items", 10, "--kind", "counting", "-o", "seen-g"), "a\n"),
           (("add", "--wait", 1, "seen-g"), "b\n"), (("remove", "seen-g"), "b\n"),
           (("build", "-f", "--items", 10, "--kind", "window", "-o", "seen-w"), "a\n"),
           (("rotate", "seen-w"), ""),
           (("merge", "-f", "-o", "seen-m", "seen-a", "seen-b"), "")]


def for_user(actions, user):
    return [([at(word, user) if str(word).startswith("seen-") else word for word in words], given)
            for words, given in actions]


def check_permissions(user, actions):
    words = documented(user)
    allow(words)
    for action in for_user(actions, user):
        assert try_it(*action) == "", action
    for permission in [word for word in words if word.startswith("+") and word != "+del"]:
        allow([word for word in words if word != permission])
        name = permission[1:]
        said = ""
        for action in for_user(actions, user):
            said = try_it(*action)
            if said:
                break
        # Within a script Redis 7.0 does not name the command.
        scripted = name in ("hget", "hset") and (
            "executing the script can't run" in said or
            f"ACL failure in script: this user has no permissions to run the '{name}'" in said)
        assert f"NOPERM this user has no permissions to run the '{name}' command" in said \
            or scripted, (user, permission, said)
        assert "docs/REDIS.md" in said or name == "tamis.info", said
    allow(words)
    for action in for_user(actions, user):
        assert try_it(*action) == "", action
    # Other keys are closed to them.
    said = try_it(("check", at("other", user)), "a\n")
    assert "NOPERM" in said and "docs/REDIS.md" in said, said


def test_reader():
    check_permissions("reader", READING)
    # Who may only read cannot write, even what it may name.
    for words, given in for_user([(("add", "seen-a"), "b\n"),
                                  (("build", "-f", "--items", 9, "-o", "seen-a"), "a\n"),
                                  (("count", "-f", "-o", "seen-new"), "a\n"),
                                  (("merge", "-o", "seen-new", "seen-a"), "")], "reader"):
        assert "NOPERM" in try_it(words, given), words


def test_writer():
    check_permissions("writer", READING + WRITING)


def test_failed_build():
    """A build that fails removes what it made, for which it needs DEL; without it, the command says
    what is left."""
    words = documented("writer")
    for lacks, left, why in (("", 0, "nothing was kept"), ("+del", 1, "could not all be removed")):
        allow([word for word in words if word != lacks])
        said = try_it(("build", "--items", 9, "-o", at("seen-half", "writer")), lines(range(9999)))
        assert why in said and CLUSTER.do("seen-half", "EXISTS", "seen-half") == left, said
    allow(words)
    assert try_it(("build", "-f", "--items", 9, "-o", at("seen-half", "writer")), "a\n") == ""


def test_database():
    """?db= needs SELECT; a cluster has no databases."""
    with Server() as server:
        words = documented("writer")
        url = f"redis://writer:@127.0.0.1:{server.port}/seen?db=2"
        env = {"TAMIS_REDIS_PASSWORD": PASSWORD}
        server.client().do("ACL", "SETUSER", *words)
        said = tamis("build", "--items", 9, "-o", url, given="a\n", status=2, env=env)
        assert "database 2: NOPERM" in said and "'select'" in said, said
        server.client().do("ACL", "SETUSER", *words, "+select")
        tamis("build", "--items", 9, "-o", url, given="a\n", env=env)
        assert tamis("check", url, given="a\nb\n", env=env) == "a\n"
        assert server.client().do("EXISTS", "seen") == 0
        client = server.client()
        client.do("SELECT", 2)
        assert client.do("EXISTS", "seen") == 1
        said = tamis("check", url.replace("db=2", "db=99"), given="a\n", status=2, env=env)
        assert "database 99: ERR DB index is out of range" in said, said
    said = tamis("check", CLUSTER.url("seen-a") + "?db=1", given="a\n", status=2)
    assert "database 1: ERR SELECT is not allowed in cluster mode" in said, said


def test_table():
    """The table names every permission of the two users, apart from the commands of the module."""
    table = DOCUMENT.split("| permission | needed for |")[1].split("\n\n")[0].replace("\\|", "|")
    named = set(re.findall(r"`([a-z|.]+)`", "\n".join(row.rpartition(" | ")[0]
                                                    for row in table.splitlines())))
    users = {word[1:] for user in ("reader", "writer") for word in documented(user)
             if word.startswith("+")}
    assert {x for x in users if not x.startswith("tamis.")} | {"select", "tamis.info",
                                                               "tamis.count"} == named, named


def run(tests):
    global CLUSTER
    with cluster() as CLUSTER:
        try:
            for name, command in (("a", ("build", "--items", 10)), ("n", ("count",)),
                                  ("t", ("count", "--kind", "top")), ("d", ("distinct",))):
                tamis(*command, "-o", CLUSTER.url(f"seen-{name}"), given=lines("a"))
            for name in ("seen-plain", "seen-moving"):
                CLUSTER.do(name, "TAMIS.CREATE", name, "blocked", "ITEMS", 9, "RATE", 0.01)
                CLUSTER.do(name, "TAMIS.ADD", name, "a")
            tamis("build", "--items", 10, "-o", CLUSTER.url("other"), given="a\n")
            slot = CLUSTER.servers[0].client().do("CLUSTER", "KEYSLOT", "seen-moving")
            source = CLUSTER.owner(slot)
            target = next(s for s in CLUSTER.masters() if s is not source)
            moving = move(slot, source, target)
            next(moving)  # from here on, its key is reached by ASKING
            main(tests)
        except SystemExit as end:  # not a failure of the servers
            return end.code
    return 1


if __name__ == "__main__":
    if not shutil.which("redis-server"):
        print("redis-server is missing")
        sys.exit(77)
    sys.exit(run([test_reader, test_writer, test_failed_build, test_database, test_table]))
