"""A writer that saves generation after generation is killed, thousands of times, at random moments.
After each death the file is whole, holds every key of its generation, and that is no older than the
last one which the writer had reported as saved.

TAMIS_KILLS says how many times; TAMIS_SEED repeats the moments of an earlier run."""
import os
import random
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree may be read-only
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "fault"))
import workshop  # noqa: E402

KILLS = int(os.environ.get("TAMIS_KILLS", "2500"))
SEED = int(os.environ.get("TAMIS_SEED", str(random.randrange(2**32))))
LONGEST = 0.020  # seconds; a save takes from 0.3 ms (memory) to some 10 ms (disk)


def clean(directory):
    """Remove what the dead left, which is their right; returns how many files."""
    others = [name for name in os.listdir(directory) if name != "set.tamis"]
    for name in others:
        if not (name.startswith(".tamis-") and name.endswith(".tmp")):
            sys.exit(f"a file of strange name: {name}")
        os.unlink(os.path.join(directory, name))
    return len(others)


def kill_one(saver, path, environment, moment):
    """Returns the last generation the writer reported."""
    with subprocess.Popen([saver, "loop", path], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as writer:
        # The first report comes once the file is open, so that the moment falls among the saves.
        first = writer.stdout.readline()
        time.sleep(moment)
        writer.kill()
        more, said = writer.communicate()
    if writer.returncode != -9:
        sys.exit(f"the writer gave up: {said}")
    # The last line may have been cut by the death.
    return int((first + more)[:(first + more).rindex("\n")].split("\n")[-1])


def main():
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="tamis-kill-") as room:
        saver = workshop.compile_saver(os.path.join(room, "saver"))
        shim = workshop.compile_shim(os.path.join(room, "shim.so"))
        directory = os.path.join(room, "data")
        os.mkdir(directory)
        path = os.path.join(directory, "set.tamis")
        subprocess.run([saver, "make", path], check=True)
        ways = [{}, *({"LD_PRELOAD": shim, **lack}
                      for lack in ({"FAULT_NO_TMPFILE": "1"}, {"FAULT_NO_LINKS": "EPERM"}))]
        last, left, moved = 1, 0, 0
        for i in range(KILLS):
            safe = kill_one(saver, path, ways[i % len(ways)], chance.uniform(0, LONGEST))
            now = workshop.generation(saver, path)
            if now is None or now < max(safe, last):
                sys.exit(
                    f"kill {i}, seed {SEED}: generation {safe} became {now or 'a broken file'}")
            moved += now > last
            last = now
            left += clean(directory)
        print(f"{KILLS} kills, seed {SEED}: generation {last}; {moved} writers had saved, "
              f"{left} left a temporary file")
        if not moved:
            sys.exit("no writer ever saved: nothing was tested")


if __name__ == "__main__":
    main()
