"""Every transcript of tests/cli, every example of README, GUIDE and --help."""
import os, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(__file__))
import transcript


def help_examples():
    """The example that each command's --help shows must work."""
    commands = [" ".join(line.split()[:2 if line.startswith("  guard ") else 1])
                for line in transcript.run("tamis --help", ".")
                if line.startswith("  ") and not line.startswith("  tamis")]
    wrong = 0
    for command in commands:
        example = transcript.run(f"tamis {command} --help", ".")[-1].strip()
        with tempfile.TemporaryDirectory() as directory:
            for name in ("bad-urls.txt", "more-urls.txt", "access-urls.txt"):
                with open(os.path.join(directory, name), "w") as f:
                    f.write(f"http://a.example/\nhttp://{name}.example/\n")
            if command != "build":
                transcript.run("tamis build -o bad.tamis bad-urls.txt; cp bad.tamis monday.tamis; "
                               "cp bad.tamis tuesday.tamis; cp bad-urls.txt users.txt; cp bad-urls.txt gone.txt; "
                               "tamis build --kind counting -o users.tamis users.txt; "
                               "tamis build --kind window -o seen-today.tamis users.txt; "
                               "tamis pack -q -o arrived.packed bad.tamis; "
                               "tamis count -o counts.tamis bad-urls.txt", directory)
            if command.startswith("guard"):
                transcript.run("echo good.example > popular.txt; echo evil.example > evil.txt; "
                               "tamis guard build guard evil.txt", directory)
            if command == "guard serve":  # until it is told to stop, at a port that is free
                example = example.replace("8080", "0")
                got = transcript.run(f"timeout --preserve-status 2 {example}", directory)
            else:
                got = transcript.run(example, directory)
        if not example.startswith("tamis ") or (got and got[-1] in ("[1]", "[2]")):
            print(f"the example of 'tamis {command} --help' fails: {example}: {got}")
            wrong += 1
    print(f"{len(commands) - wrong} passed, {wrong} failed")
    return len(commands) < 8 or wrong > 0


sys.exit(help_examples() or transcript.main([]))
