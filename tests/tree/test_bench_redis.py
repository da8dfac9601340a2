"""bench/redis/slow.py runs, and docs/REDIS.md has its table: the same commands in the same order,
with the same units."""
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parents[2])).resolve()


def rows(text):
    cells = [line.split("|") for line in text.splitlines() if line.startswith("|")]
    return [(row[1].strip(), row[3].strip()) for row in cells]


made = subprocess.run([sys.executable, str(SOURCE / "bench/redis/slow.py"), "--quick"],
                      capture_output=True, text=True)
assert made.returncode == 0, made
page = (SOURCE / "docs/REDIS.md").read_text().split("<!-- slow -->\n")
assert len(page) == 3
assert len(rows(made.stdout)) > 15 and rows(page[1]) == rows(made.stdout), made.stdout
assert "At most" in page[1] and "At most" in made.stdout
print("the table is that of the script")
