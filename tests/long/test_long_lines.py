"""Lines of more than 2 GiB are distinguished by their last byte, found whole, and counted. Takes
about 8 GB of memory and 10 GB of /tmp."""
import os, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

SIZE = 2**31 + 5
TAMIS = os.environ["TAMIS"]
GIANT = f"head -c {SIZE} /dev/zero | tr '\\0' x"


def shell(command, folder, wanted, status=0):
    environment = dict(os.environ, PATH=os.path.dirname(os.path.abspath(TAMIS)) + ":"
                       + os.environ["PATH"])
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment,
                          stdout=subprocess.PIPE)
    assert (done.stdout.decode().split(), done.returncode) == (wanted, status), (command, done)


with tempfile.TemporaryDirectory() as room:
    shell(f"({GIANT}; echo a; echo tail) > list", room, [])
    shell(f"({GIANT}; echo b; {GIANT}; echo a; echo tail; {GIANT}) > lines", room, [])
    shell("tamis check -f list lines | wc -c", room, [str(SIZE + 2 + 5)])
    shell("tamis check -vcf list < lines", room, ["2"])
    shell("tamis build --fpr 1e-9 -o f.tamis list && tamis check -c f.tamis lines", room, ["2"])
    shell("tamis check --confirm list f.tamis lines | wc -c", room, [str(SIZE + 2 + 5)])
    # The last line has no end, so it joins the first one of the second time: a fifth line, of twice
    # the size.
    shell("cat lines lines | tamis uniq | wc -lc", room, ["5", str(5 * SIZE + 12)])
print("all passed")
sys.exit(0)
