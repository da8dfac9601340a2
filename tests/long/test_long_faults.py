"""test_faults_commands.py at every call, every allocation and every byte, in every way and for
every kind."""
import os
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fault")
sys.exit(subprocess.run([sys.executable, os.path.join(FOLDER, "test_faults_commands.py")],
                        env={**os.environ, "TAMIS_FAULTS": "all"}).returncode)
