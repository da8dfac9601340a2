"""No key of --key-file or --sign is in a core dump of the command. While it waits for more lines,
all of its memory that a core would contain (/proc/PID/smaps: mappings without the flag dd) is
searched for the key, as bytes and as digits, and for what SipHash begins with. Where gdb is
installed, a real core is searched as well."""
import base64, hashlib, os, re, shutil, struct, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

TAMIS = os.environ["TAMIS"]
CONSTANTS = (0x736F6D6570736575, 0x646F72616E646F6D, 0x646F72616E646F6D ^ 0xEE, 0x6C7967656E657261,
             0x7465646279746573)


def needles(digits):
    key = bytes.fromhex(digits)
    words = struct.unpack("<QQ", key)
    mixed = [words[i] ^ c for c, i in zip(CONSTANTS, (0, 1, 1, 0, 1))]
    return [digits.encode(), digits.encode()[:16], digits.encode()[16:], key[:8], key[8:],
            *(struct.pack("<Q", w) for w in mixed)]


def signing_needles(path):
    """The seed of a key that signs, in parts and as the file has it, and what it is hashed to: the
    secret scalar and the secret prefix of nonces."""
    line = open(path).read().split("\n")[1]
    seed = base64.b64decode(line)[40:72]
    scalar = bytearray(hashlib.sha512(seed).digest()[:32])
    scalar[0] &= 248
    scalar[31] = scalar[31] & 127 | 64
    prefix = hashlib.sha512(seed).digest()[32:]
    return [line.encode()[56:72], line.encode()[76:92]] + [
        part[at:at + 8] for part in (seed, bytes(scalar), prefix) for at in (0, 8, 16, 24)]


def memory(pid):
    """Pairs: whether a core has it, and the bytes."""
    with open(f"/proc/{pid}/smaps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            place = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                at = place and [int(x, 16) for x in place.groups()]
            if line.startswith("VmFlags:") and at:
                try:
                    mem.seek(at[0])
                    yield " dd" not in line, mem.read(at[1] - at[0])
                except (OSError, OverflowError, ValueError):
                    pass  # the system's own


def start(room, command):
    """A command that has read and answered some lines, and waits for more."""
    p = subprocess.Popen([TAMIS, *command], cwd=room, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdin.write(b"".join(b"https://www.site.example/page-%d.html\n%d\n" % (i, i)
                           for i in range(100000)))
    p.stdin.flush()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:  # until it sleeps in a read
        with open(f"/proc/{p.pid}/stat") as stat, open(f"/proc/{p.pid}/syscall") as call:
            if stat.read().split(") ")[1][0] == "S" and not call.read().startswith("running"):
                return p
        time.sleep(0.01)
    raise AssertionError("it does not come to rest")


def core_of(room, pid):
    if shutil.which("gcore") is None:
        return b""
    subprocess.run(["gcore", "-o", os.path.join(room, "core"), str(pid)], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    path = os.path.join(room, f"core.{pid}")
    return open(path, "rb").read() if os.path.exists(path) else b""


def main():
    if "-fsanitize" in os.environ.get("TEST_CFLAGS", ""):
        print("a sanitizer's memory is not searched")
        return 77
    with tempfile.TemporaryDirectory() as room:
        key = os.path.join(room, "key")
        subprocess.run([TAMIS, "key", "new", "-q", key], check=True)
        of_file = needles(open(key).read().strip())
        subprocess.run([TAMIS, "build", "--key-file", "key", "-o", "f.tamis"], input=b"1\n2\n",
                       cwd=room, check=True)
        signing = os.path.join(room, "key.sec")
        subprocess.run([TAMIS, "key", "new", "-q", "--sign", signing], check=True)
        for command in (["check", "-c", "--key-file", "key", "f.tamis", "-"],
                        ["uniq", "-q", "--key-file", "key"],
                        ["count", "--key-file", "key", "-fo", "c.tamis"],
                        ["build", "--items", "1M", "--key-file", "key", "-fo", "g.tamis"],
                        ["guard", "build", "-q", "--lenient", "g", "list=-", "--sign", "key.sec"]):
            wanted = signing_needles(signing) if "--sign" in command else of_file
            p = start(room, command)
            parts = list(memory(p.pid))
            core = core_of(room, p.pid)
            p.stdin.close(), p.stdout.read()
            assert p.wait() in (0, 1), command
            dumped, hidden = (sum(part.count(n) for d, part in parts if d == kind for n in wanted)
                              for kind in (True, False))
            in_core = sum(core.count(n) for n in wanted)
            assert dumped == 0 and in_core == 0, \
                f"{command[0]}: a part of the key would be in a core dump"
            assert hidden >= 2, f"{command[0]}: the search does not find the key where it must be"
    return 0


sys.exit(main())
