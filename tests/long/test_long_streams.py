"""The streams of the frequency benchmark are those that were agreed on: by the sums of their ids
and of the log."""
import hashlib, os, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

BENCH = os.path.join(os.environ["TAMIS_BUILD"], "bench-frequency")
IDS = {"z0.8": "7a44659e5b89956e57346aee14153298", "z1.0": "3ebe104e1382a6d9cbbcf08aab85d175",
       "z1.3": "22377f35cc26690fb0583aeef1cc170d", "url": "8a6a6bf95057c662c1dab6155ae7f0e4"}
LOG = "3c16f0fab523e3911783e90d0ed30e28"


def sum_of(f):
    h = hashlib.md5()
    while piece := f.read(1 << 20):
        h.update(piece)
    return h.hexdigest()


if not os.path.exists(BENCH):
    sys.exit(77)
for name, wanted in IDS.items():
    with subprocess.Popen([BENCH, "--ids", name], stdout=subprocess.PIPE) as p:
        got = sum_of(p.stdout)
    assert p.returncode == 0 and got == wanted, (name, got)
with tempfile.TemporaryDirectory() as room:
    log = os.path.join(room, "log")
    subprocess.run([BENCH, "--log", log], check=True)
    with open(log, "rb") as f:
        assert sum_of(f) == LOG
print("5 passed, 0 failed")
