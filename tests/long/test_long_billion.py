"""Every kind that fits in memory with a billion keys, or with TAMIS_BILLION keys: no member gets a
"no", and rates are those of the plan. Needs up to 20 GB of memory, and 34 bytes for each key on the
disk; on a smaller machine, kinds that do not fit are left out, or there are fewer keys."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build"))
sys.path.insert(0, str(SOURCE / "bench/billion"))
import measure  # noqa: E402

if not (BUILD / "bench-billion").exists():
    print("skipped: built without the benchmark")
    sys.exit(77)

with tempfile.TemporaryDirectory(prefix="tamis-billion-test-") as room:
    items = measure.size(os.environ.get("TAMIS_BILLION", "1e9"))
    # A tenth of both remains free for others.
    items = min(items, int(0.9 * shutil.disk_usage(room).free / measure.FILE_BYTES))
    limit = min(20 * 10**9, int(0.9 * measure.available()))
    print(f"{items:,} keys, at most {limit / 1e9:.1f} GB", flush=True)
    sys.exit(subprocess.run([sys.executable, "-B", SOURCE / "bench/billion/measure.py", "--items",
                             str(items), "--limit", str(limit), "--temp", room, "--out",
                             os.path.join(room, "billion.json")], check=False).returncode)
