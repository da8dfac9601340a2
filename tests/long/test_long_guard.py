"""The tests of the guard's server with many more requests, kills and damaged
files."""
import os
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "guard")
for name, more in [("test_guard_hostile.py", {"TAMIS_REQUESTS": "100000"}),
                   ("test_guard_kill.py", {"TAMIS_KILLS": "300"}),
                   ("test_guard_files.py", {"TAMIS_FLIPS": "2000"})]:
    if subprocess.run([sys.executable, os.path.join(FOLDER, name)],
                      env={**os.environ, **more}).returncode != 0:
        sys.exit(f"{name} failed")
