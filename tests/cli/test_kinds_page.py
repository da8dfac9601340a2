"""The sizes in the table of docs/KINDS.md are those that `tamis plan` computes for 10 million
items: to 0.06 bits where the table has one decimal, which leaves room for rounding, and to half a
bit where it has none."""
import json, os, pathlib, re, subprocess

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parents[2]))
# Made from other filters, or not of a planned size in memory: the page gives no size, or of a pack.
WITHOUT = {"private", "bloom --for-transfer"}


def planned(words, rate):
    kind, *options = words.split()
    bits = 8 if kind == "map" else 0  # of a value, which the table does not include
    options += ["--value-bits", "8"] if bits else []
    found = json.loads(subprocess.run(
        [os.environ["TAMIS"], "plan", "--json", "--items", "10M", "--fpr", rate, "--kind", kind,
         *options], capture_output=True, check=True).stdout)
    return (found[0] if isinstance(found, list) else found)["bits_per_item"] - bits


rows = re.findall(r"^\| `([^`]+)`[^|]*\|[^|]*\| ([0-9.]+) / ([0-9.]+)",
                  (SOURCE / "docs/KINDS.md").read_text(), flags=re.M)
rows = [row for row in rows if row[0] not in WITHOUT]
assert len(rows) == 13, rows
for words, *said in rows:
    for rate, text in zip(("1%", "0.1%"), said):
        bits, slack = planned(words, rate), 0.06 if "." in text else 0.5
        assert abs(bits - float(text)) <= slack, f"{words} at {rate}: {bits:.2f}, not {text}"
print(f"{len(rows)} kinds")
