"""./run bench cli on few lines: it runs, the outputs of all commands agree, and the page can be
made. No time is tested."""
import json, os, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

if not os.path.exists("/usr/bin/time"):
    print("GNU time is not installed")
    sys.exit(77)
driver = os.path.join(os.environ["TAMIS_SOURCE"], "bench/cli/measure.py")
with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, "cli.json")
    subprocess.run([sys.executable, driver, "--lines", "3000", "--repeat", "2", "--tamis",
                    os.environ["TAMIS"], "--folder", folder,
                    "--docs", folder, "--out", out], check=True, stdout=subprocess.DEVNULL)
    told = json.load(open(out, encoding="utf-8"))
    page = open(os.path.join(folder, "BENCHMARKS-CLI.md"), encoding="utf-8").read()
    assert sorted(os.listdir(folder)) == ["BENCHMARKS-CLI.md", "cli.json"], "data is left behind"
names = {r["name"] for r in told["rows"]}
assert {"tamis uniq", "mawk '!s[$0]++'", "sort -u", "tamis check -f", "grep -Fxf",
        "tamis check --confirm", "tamis distinct", "sort -u | wc -l",
        "tamis distinct --by", "tamis distinct, table.csv", "tamis distinct, quoted.csv",
        "tamis distinct, records.jsonl", "tamis diff", "sort -u, comm"} <= names, names
for r in told["rows"]:
    assert 0 < r["min_seconds"] <= r["seconds"] and r["cpu_seconds"] >= 0 \
        and r["peak_bytes"] > 100000, r
    name = r["name"].replace("|", "\\|")
    assert f"| `{name}` |" in page, name
written = {r["lines_written"] for r in told["rows"] if r["job"] == "uniq"}
assert len(written) == 1, written  # of so few lines none is dropped
assert told["context"]["failed"] == [] and page.count("\n## ") >= 5 and "## Targets" in page
print("every row is there")
