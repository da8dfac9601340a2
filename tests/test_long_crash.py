"""Every command that writes is killed, ten thousand times in all, at random moments of its life. After each death the file is
the old or the new one, whole; a directory of the guard is one version; and of releases none is out that its book has not.

On a disk, where most of the time of a save is waiting for it, and with files of many pages, so that the moments fall there.
TAMIS_KILLS says how many; TAMIS_SEED repeats the moments of an earlier run."""
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree may be read-only
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "fault"))
import scenarios  # noqa: E402

TAMIS = os.environ["TAMIS"]
KILLS = int(os.environ.get("TAMIS_KILLS", "10000"))
SEED = int(os.environ.get("TAMIS_SEED", str(random.randrange(2**32))))


def lifetime(scenario, directory):
    """Of one that is left alone, in seconds."""
    times = []
    for _ in range(5):
        start = time.monotonic()
        scenarios.Run.killed(TAMIS, scenario, directory, None)
        times.append(time.monotonic() - start)
        scenario.restore(directory)
    return sorted(times)[2]


def kill(job):
    """Returns the name, kills, how many had come to their end before, how many of the killed had published, complaints."""
    scenario, room, kills = job
    directory = os.path.join(room, f"run-{os.getpid()}")
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(scenario.template, directory)
    chance = random.Random(f"{SEED} {scenario.name}")
    longest = 1.3 * lifetime(scenario, directory)
    killed = survived = moved = late = 0
    complaints = []
    while killed < kills and len(complaints) < 5:
        if late > 20:  # it had been measured on a busier machine
            longest, late = longest / 2, 0
        run = scenarios.Run.killed(TAMIS, scenario, directory, chance.uniform(0, longest))
        was_killed = run.code == -9
        killed, survived = killed + was_killed, survived + (not was_killed)
        late = 0 if was_killed else late + 1
        moved += was_killed and scenario.is_done(run)
        environment = {"FAULT_HOW": "kill"} if was_killed else {}
        complaints += [f"{scenario.name}, seed {SEED}, kill {killed}: {text}" for text in scenario.complaints(run, environment)]
        scenario.restore(directory)
    return scenario.name, killed, survived, moved, complaints


def main():
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tamis-crash-") as room:
        found = [s for s in scenarios.make(TAMIS, os.path.join(room, "templates"), False, "200000") if s.writes]
        # Those that need other commands to be looked at take longer.
        weights = [s.weight for s in found]
        jobs = [(s, room, round(KILLS * s.weight / sum(weights)) + 1) for s in found]
        total = done = failures = 0
        with multiprocessing.Pool(2) as pool:
            for name, killed, survived, moved, complaints in pool.imap_unordered(kill, jobs):
                print(f"{name}: {killed} kills, {moved} after the new file was in place; {survived} too late", flush=True)
                print("".join(text + "\n" for text in complaints), end="", flush=True)
                total, done, failures = total + killed, done + moved, failures + len(complaints)
        print(f"{total} kills, seed {SEED}, {done} after publishing, {failures} complaints, {time.monotonic() - start:.0f} s")
        return 1 if failures or total < KILLS or done == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
