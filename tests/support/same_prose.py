"""Whether a page has the prose of the report that writes it: same_prose.py REPORT PAGE

Every line of the report's template that contains no number of a run must be a line of the page."""
import importlib.util
import pathlib
import sys

spec = importlib.util.spec_from_file_location("report", sys.argv[1])
report = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(report)
page = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()
missing = [line for line in report.PAGE.splitlines() if "{" not in line and line not in page]
for line in missing:
    print(f"not in {sys.argv[2]}: {line}")
sys.exit(bool(missing))
