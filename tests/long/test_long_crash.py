"""Every command that writes is killed, at random moments of its life: build, add and guard build
ten thousand times, of every kind, and the others some tens of times each. After each death the file
is the old or the new one, whole; a directory of the guard is one version; and every published
release is in its book. For each command, some deaths come before the new file is in place and some
after: half of the moments are drawn from its whole life, and half from around that one.

On a disk, where most of the time of a save is waiting for it, and with files of many pages, so that
the moments fall there. TAMIS_KILLS says how many; TAMIS_SEED repeats the moments of an earlier run;
TEST_ONLY names some, with semicolons between."""
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree may be read-only
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "fault"))
import scenarios  # noqa: E402
import tidy  # noqa: E402, F401

TAMIS = os.environ["TAMIS"]
KILLS = int(os.environ.get("TAMIS_KILLS", "10000"))
# have all of these kills together; others as many as OTHERS of each
FOREMOST = ("build", "add", "guard build")
OTHERS = 40
PATIENCE = 25  # times the kills, until some have come before publication and some after
SEED = int(os.environ.get("TAMIS_SEED", str(random.randrange(2**32))))


def lifetime(scenario, directory):
    """The duration of a run that is left alone, in seconds."""
    times = []
    for _ in range(5):
        start = time.monotonic()
        scenarios.Run.killed(TAMIS, scenario, directory, None)
        times.append(time.monotonic() - start)
        scenario.restore(directory)
    return sorted(times)[2]


class Moments:
    """When to kill. Half of them are anywhere; the others follow the moment at which the new file
    is in place."""

    def __init__(self, scenario, life):
        self.chance = random.Random(f"{SEED} {scenario.name}")
        self.longest, self.aim, self.late = 1.3 * life, life, 0

    def next(self):
        self.aimed = self.chance.random() < 0.5
        return self.aim * self.chance.uniform(0.9,
                                              1.1) if self.aimed else self.chance.uniform(
                                                  0, self.longest)

    def learn(self, was_killed, was_done):
        if self.aimed:
            self.aim *= 0.96 if was_done or not was_killed else 1.04
        self.late = 0 if was_killed else self.late + 1
        if self.late > 20:  # it had been measured on a busier machine
            self.longest, self.late = self.longest / 2, 0


def kill(job):
    """Returns the scenario, kills, how many had come to their end before, how many of the killed
    had published, complaints."""
    scenario, room, kills = job
    directory = os.path.join(room, f"run-{os.getpid()}")
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(scenario.template, directory)
    moments = Moments(scenario, lifetime(scenario, directory))
    killed = survived = moved = 0
    complaints = []
    while (killed < kills or moved in (0, killed)) and killed < PATIENCE * kills \
            and len(complaints) < 5:
        run = scenarios.Run.killed(TAMIS, scenario, directory, moments.next())
        was_killed, was_done = run.code == -9, scenario.is_done(run)
        moments.learn(was_killed, was_done)
        killed, survived, moved = killed + was_killed, survived + (not was_killed), moved + (
            was_killed and was_done)
        environment = {"FAULT_HOW": "kill"} if was_killed else {}
        complaints += [f"{scenario.name}, seed {SEED}, kill {killed}: {text}"
                       for text in scenario.complaints(run, environment)]
        scenario.restore(directory)
    if moved in (0, killed):
        complaints.append(
            f"{scenario.name}: {moved} of {killed} kills after the new file was in place")
    return scenario, killed, survived, moved, complaints


def jobs(room):
    """Each writer, and how often it is to be killed."""
    names = scenarios.commands(TAMIS)
    wanted = os.environ.get("TEST_ONLY")
    found = [s for s in scenarios.make(TAMIS, os.path.join(room, "templates"), True, "200000")
             if s.writes]
    found = [s for s in found if not wanted or s.name in wanted.split(";")]
    for s in found:
        s.is_foremost = scenarios.command_of(s, names) in FOREMOST
    # Those that need other commands to be looked at take longer.
    weights = sum(s.weight for s in found if s.is_foremost) or 1
    return [(s, room, round(KILLS * s.weight / weights) + 1 if s.is_foremost
             else min(KILLS, OTHERS)) for s in found]


def main():
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tamis-crash-") as room:
        total = foremost = done = failures = 0
        with multiprocessing.Pool(2) as pool:
            for s, killed, survived, moved, complaints in pool.imap_unordered(kill, jobs(room)):
                print(f"{s.name}: {killed} kills, {moved} after the new file was in place; "
                      f"{survived} too late", flush=True)
                print("".join(text + "\n" for text in complaints), end="", flush=True)
                total, done, failures = total + killed, done + moved, failures + len(complaints)
                foremost += killed if s.is_foremost else 0
        print(f"{total} kills, {foremost} of build, add and guard build, seed {SEED}, {done} after "
              f"publishing, "
              f"{failures} complaints, {time.monotonic() - start:.0f} s")
        return 1 if failures or foremost < KILLS and not os.environ.get("TEST_ONLY") else 0


if __name__ == "__main__":
    sys.exit(main())
