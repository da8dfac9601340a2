"""The tables of docs/ACCURACY.md are what build/accuracy prints today."""
import os, pathlib, subprocess, sys

page = pathlib.Path(os.environ["TAMIS_SOURCE"], "docs/ACCURACY.md").read_text().splitlines()
program = pathlib.Path(os.environ["TAMIS_BUILD"], "accuracy")
rows = [line for line in subprocess.run([program], stdout=subprocess.PIPE, check=True,
                                        text=True).stdout.splitlines()
        if line.startswith("|")]
missing = [line for line in rows if line not in page]
for line in missing:
    print("not in docs/ACCURACY.md:", line)
print(f"{len(rows) - len(missing)} passed, {len(missing)} failed")
sys.exit(len(rows) < 50 or bool(missing))
