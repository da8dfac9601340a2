"""Lines that somebody chose against the public hash: all have the highest bit of their hash set,
which a hash of 63 bits would have clear. Filters of them say so in every report, also when they
are read from a file, and a sealed one is refused."""
import json, os, subprocess, sys, tempfile, xxhash

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

TAMIS = os.environ["TAMIS"]
CHOSEN = [line for line in (b"line-%d" % i for i in range(8000))
          if xxhash.xxh3_128_intdigest(line) >> 127]
USUAL = [b"line-%d" % i for i in range(4000)]


def tamis(*words, lines=(), status=0):
    done = subprocess.run([TAMIS, *words], input=b"".join(line + b"\n" for line in lines),
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout.decode(), done.stderr.decode()


def warns(said):
    return "not uniform" in said[1]


def facts(path):
    return json.loads(tamis("info", "--json", path)[0])


def filters():
    for kind in ("bloom", "blocked", "counting", "growing", "window", "pair"):
        build = ("build", "--kind", kind, "--items", "20000", "-f", "-o")
        assert not warns(tamis(*build, "good", lines=USUAL)) \
            and facts("good")["hash_suspect"] is False
        assert warns(tamis(*build, "bad", lines=CHOSEN)) and facts("bad")["hash_suspect"] is True
        assert warns(tamis(*build, "bad", "-q", lines=CHOSEN)), \
            "a filter that answers wrongly is worth a warning, also with -q"
        assert "suspect" in tamis("info", "bad")[0] and "suspect" not in tamis("info", "good")[0]
        assert warns(tamis("check", "-q", "bad", lines=CHOSEN[:1])) \
            and not warns(tamis("check", "-q", "good", lines=USUAL[:1]))
        assert "--key-file" in tamis("add", "bad", lines=USUAL[:10])[1], \
            "the warning says what helps"
        assert warns(tamis("add", "bad", lines=USUAL[:10])) \
            and not warns(tamis("add", "good", lines=USUAL[:10]))


def sketches():
    for kind in ("count-min", "count-sketch", "tally", "signed-tally"):
        for lines, suspect in ((USUAL, False), (CHOSEN, True)):
            assert warns(tamis("count", "-q", "--kind", kind, "-f", "-o", "counts",
                               lines=lines)) is suspect
            assert facts("counts")["hash_suspect"] is suspect
            assert ("suspect" in tamis("info", "counts")[0]) is suspect


def static_kinds():
    tamis("key", "new", "key")
    for kind in ("ribbon", "fuse"):
        build = ("build", "--kind", kind, "--items", "4000", "-f", "-o")
        said = tamis(*build, "static", lines=CHOSEN, status=2)[1]
        assert "chose these lines against the public hash" in said and "--key-file" in said \
            and not os.path.exists("static"), said
        tamis("build", "--kind", kind, "--key-file", "key", "-f", "-o", "keyed", lines=CHOSEN)
        tamis(*build, "sealed", lines=USUAL)
        assert facts("sealed")["hash_suspect"] is False
        # A part of the lines does not stop it.
        tamis(*build, "sealed", lines=USUAL + CHOSEN[:500] + USUAL)


def what_is_made_of_them():
    shape = ("--kind", "bloom", "--m", "65536", "--k", "1", "--items", "4000", "-f", "-o")
    tamis("build", *shape, "one", lines=USUAL)
    tamis("build", *shape, "two", lines=CHOSEN)
    assert warns(tamis("merge", "-f", "-o", "both", "one", "two")) \
        and facts("both")["hash_suspect"] is True
    assert not warns(tamis("merge", "-f", "-o", "same", "one", "one"))
    assert json.loads(tamis("verify", "--json", "one", status=0)[0])["hash_suspect"] is False
    assert json.loads(tamis("verify", "--json", "both", status=0)[0])["hash_suspect"] is True
    tamis("pack", "-o", "packed", "two")
    tamis("unpack", "-o", "unpacked", "packed")
    assert facts("unpacked")["hash_suspect"] is True
    assert warns(tamis("release", "--epsilon", "1", "-o", "public", "two")) \
        and facts("public")["hash_suspect"] is False


with tempfile.TemporaryDirectory() as room:
    os.chdir(room)
    for test in (filters, sketches, static_kinds, what_is_made_of_them):
        test()
print("4 passed, 0 failed")
