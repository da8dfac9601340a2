"""The second reader of keys, signatures and signed manifests, from docs/FORMAT.md and docs/GUARD.md
alone. Ed25519 is that of OpenSSL (python3-cryptography), not the one of the command. It also makes
what an honest program never writes, for tests."""
import base64
import hashlib
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


class Wrong(Exception):
    pass


def payload(text, size):
    """The bytes behind the second line of a file of signify."""
    found = re.fullmatch(rb"untrusted comment: [^\n]*\n([A-Za-z0-9+/]+=*)\n", text)
    data = base64.b64decode(found[1], validate=True) if found else b""
    if len(data) != size or data[:2] != b"Ed" or base64.b64encode(data) != found[1]:
        raise Wrong("not such a file")
    return data


class PublicKey:
    def __init__(self, text):
        data = payload(text, 42)
        self.number, self.key = data[2:10], Ed25519PublicKey.from_public_bytes(data[10:])

    def verify(self, signature, message):
        try:
            self.key.verify(signature, message)
        except InvalidSignature as error:
            raise Wrong("the signature is wrong") from error


class SecretKey:
    def __init__(self, text):
        data = payload(text, 104)
        if data[2:4] != b"BK" or data[4:8] != bytes(4):
            raise Wrong("it has a passphrase")
        if hashlib.sha512(data[40:]).digest()[:8] != data[24:32]:
            raise Wrong("the checksum is wrong")
        self.number, self.seed, self.public = data[32:40], data[40:72], data[72:]
        self.key = Ed25519PrivateKey.from_private_bytes(self.seed)

    def sign(self, message):
        return self.key.sign(message)


def verify_file(public, message, signature):
    """Whether a detached signature is by this key; all three are the bytes of files."""
    key, data = PublicKey(public), payload(signature, 74)
    if data[2:10] != key.number:
        raise Wrong("another key")
    key.verify(data[10:], message)


class Manifest:
    """The lines of a manifest, its signatures (number and bytes), and its fields."""

    def __init__(self, text):
        head, sum_line = text[:-69], text[-69:]
        if sum_line != b"sum %s\n" % hashlib.sha256(head).hexdigest().encode():
            raise Wrong("the sum is wrong")
        lines = head.decode().splitlines(keepends=True)
        self.lines = [line for line in lines if not line.startswith("signature ")]
        self.signatures = [(bytes.fromhex(line.split()[1]), base64.b64decode(line.split()[2]))
                           for line in lines if line.startswith("signature ")]
        if lines != self.lines + lines[len(self.lines):]:
            raise Wrong("lines behind a signature")

    def signed(self):
        return "".join(self.lines).encode()

    def field(self, name):
        return next((line.split()[1] for line in self.lines if line.startswith(name + " ")), None)

    def set(self, name, value):
        """Changes a field, or adds an expiry; what was signed is then another text."""
        changed = [f"{name} {value}\n" if line.startswith(name + " ") else line
                   for line in self.lines]
        self.lines = changed if self.field(name) else changed + [f"{name} {value}\n"]
        return self

    def sign(self, *keys):
        self.lines[0] = "tamis-guard 2\n"
        self.signatures = [(key.number, key.sign(self.signed())) for key in keys]
        return self

    def verify(self, public):
        """Whether this key has signed it."""
        key = PublicKey(public)
        found = [signature for number, signature in self.signatures if number == key.number]
        if not found:
            raise Wrong("no signature by this key")
        key.verify(found[0], self.signed())

    def bytes(self):
        text = self.signed() + b"".join(
            b"signature %s %s\n" % (number.hex().encode(), base64.b64encode(signature))
            for number, signature in self.signatures)
        return text + b"sum %s\n" % hashlib.sha256(text).hexdigest().encode()
