"""What the shells offer, according to the shells themselves: bash, and fish and zsh where they
are installed."""
import os, pty, re, select, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

TAMIS = os.environ["TAMIS"]
FILES = ["filter.tamis", "fine lines.txt", "other"]
FOLDERS = ["folder"]

# Command line up to the cursor, and what must be among the offers, and what must not.
CASES = [
    ("tamis bui", {"build"}, {"check"}),
    ("tamis ", {"build", "check", "guard", "explain", "help"},
     {"filter.tamis", "guard check", "blocked"}),
    ("tamis guard ", {"build", "check", "explain", "serve"}, {"plan"}),
    ("tamis guard check --js", {"--json"}, {"--port"}),
    ("tamis guard serve --po", {"--port"}, {"--json"}),
    ("tamis explain c", {"cost"}, set()),
    ("tamis explain cost --vis", {"--visits"}, {"--ask"}),
    ("tamis build --it", {"--items"}, set()),
    ("tamis check --it", set(), {"--items"}),
    ("tamis build --kind bl", {"blocked"}, {"cuckoo", "filter.tamis"}),
    ("tamis build --static -o oth", {"other"}, {"blocked"}),
    ("tamis info --color al", {"always"}, {"auto"}),
    ("tamis help ex", {"explain", "exit-status"}, {"build"}),
    ("tamis check fi", {"filter.tamis", "fine lines.txt"}, {"other"}),
    ("tamis build -o oth", {"other"}, {"filter.tamis"}),
    ("tamis build --temp fo", {"folder"}, {"filter.tamis"}),
    ("tamis plan --items ", set(), {"filter.tamis", "blocked"}),
]


# built without it
if subprocess.run([TAMIS, "guard", "explain", "a.example"], capture_output=True).returncode != 0:
    CASES = [(line, wanted - {"guard"}, unwanted)
             for line, wanted, unwanted in CASES if "guard" not in line]


def bash(line):
    words = line.split(" ")
    program = (
        'eval "$("$TAMIS" help --completions bash)"; compopt() { :; }; COMP_WORDS=("$@"); '
        'COMP_CWORD=$(($# - 1));'
               ' _tamis; printf "%s\\n" "${COMPREPLY[@]}"')
    return ask(["bash", "-c", program, "bash", *words])


def fish(line):
    program = '"$TAMIS" help --completions fish | source; complete -C "$argv[1]"'
    offers = ask(["fish", "--no-config", "-c", program, line])
    return {offer.split("\t")[0].rstrip("/").replace("\\ ", " ") for offer in offers}


def ask(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0 or command[0] == "fish", (command, done.stderr)
    assert done.stderr == "", (command, done.stderr)
    return set(done.stdout.split("\n")) - {""}


def offers_are_right(shell):
    for line, wanted, unwanted in CASES:
        got = shell(line)
        assert wanted <= got and not got & unwanted, (shell.__name__, line, got)


def equals_signs_in_bash():
    for words, wanted in ((["tamis", "build", "--kind", "=", "rib"], {"ribbon"}),
                          (["tamis", "info", "--color", "="],
                           {"auto", "always", "never"})):
        assert bash(" ".join(words)) == wanted, words


def zsh_completes():
    """On a terminal of its own, as it does nowhere else: a tamis that prints its words shows what
    the tab key made."""
    text = subprocess.run([TAMIS, "help", "--completions", "zsh"], capture_output=True, text=True,
                          check=True).stdout
    os.mkdir("functions")
    with open("functions/_tamis", "w") as f:
        f.write(text)
    subprocess.run(["zsh", "-n", "functions/_tamis"], check=True)
    master, slave = pty.openpty()
    p = subprocess.Popen(["zsh", "-f", "-i"], stdin=slave, stdout=slave, stderr=slave,
                         start_new_session=True,
                         env={**os.environ, "TERM": "dumb", "PS1": "", "LC_ALL": "C.UTF-8"})
    os.close(slave)

    def say(text, until):
        os.write(master, text.encode())
        shown = ""
        while until not in shown:
            assert select.select([master], [], [], 30)[0], (text, shown)
            shown += os.read(master, 65536).decode(errors="replace")
        return shown

    say("fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D; tamis() { print -r "
        "-- GOT:${(j:|:)@}: }; "
        "print BE''GIN\n", "BEGIN")
    for line, wanted in (("bui", "build"), ("guard ser", "guard|serve"),
                         ("guard check --js", "guard|check|--json"),
                         ("explain cost --vis", "explain|cost|--visits"),
                         ("build --kind rib", "build|--kind|ribbon"),
                         ("check -f oth", "check|-f|other"),
                         ("info --color alw", "info|--color|always"),
                         ("help exit", "help|exit-status"), ("check oth", "check|other"),
                         ("build --temp fold", "build|--temp|folder"),
                         ("build --never=oth", "build|--never=other")):
        if "guard" in line and not any("guard" in case[0] for case in CASES):
            continue
        shown = say(f"tamis {line}\t\n", "GOT:")
        while ":" not in shown.split("GOT:")[-1]:
            shown += os.read(master, 65536).decode(errors="replace")
        assert f"GOT:{wanted}:" in shown, (line, shown)
    os.close(master)
    p.kill()
    p.wait()


def every_option_is_offered():
    """Every command that --help lists is completed, by every shell."""
    texts = {shell: subprocess.run([TAMIS, "help", "--completions", shell], capture_output=True,
                                   text=True,
                                   check=True).stdout for shell in ("bash", "zsh", "fish")}
    overview = subprocess.run([TAMIS, "--help"], capture_output=True, text=True, check=True).stdout
    lines = overview.split("Usage:")[1].split("Topics:")[0].split("\n")
    commands = [line[2:16].strip() for line in lines if line.startswith("  ")]
    assert len(commands) > 15
    for command in commands:
        told = subprocess.run([TAMIS, *command.split(), "--help"], capture_output=True, text=True,
                              check=True).stdout
        names = set(re.findall(r"^  (?:-.,|   ) (--[a-z0-9-]+)", told, re.M))
        assert "--help" in names
        offered = bash(f"tamis {command} --")
        assert offered == names, (command, offered ^ names)
        for name in names:
            assert f"'__tamis_is {command}' -l {name[2:]} " in texts["fish"] + " ", (command, name)
        part = texts["zsh"].split(f"    '{command}')\n        _arguments")[1].split(";;")[0]
        assert all(f"{name}=" in part or f"{name}[" in part or f"{name}}}" in part
                   for name in names), (command, part)


def other_shells_are_refused():
    done = subprocess.run([TAMIS, "help", "--completions", "csh"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr \
        == "tamis: --completions: there are completions for bash, zsh and fish, but not for 'csh'\n"


with tempfile.TemporaryDirectory() as room:
    os.chdir(room)
    os.environ["HOME"] = room
    for name in FILES:
        open(name, "w").close()
    for name in FOLDERS:
        os.mkdir(name)
    tests = [lambda: offers_are_right(bash), equals_signs_in_bash, every_option_is_offered,
             other_shells_are_refused]
    for shell, test in (("fish", lambda: offers_are_right(fish)), ("zsh", zsh_completes)):
        if shutil.which(shell):
            tests.append(test)
        else:
            print(f"{shell} is not installed: its completions were not tried")
    for test in tests:
        test()
    os.chdir("/")
print(f"{len(tests)} passed, 0 failed")
sys.exit(0)
