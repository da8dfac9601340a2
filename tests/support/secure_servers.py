"""Servers that speak TLS, with certificates of their own, and clusters of them. Each also has a
port without TLS, which only the tests use."""
import contextlib
import pathlib
import subprocess
import sys

from cluster_servers import OPTIONS, Cluster
from redis_client import PATIENCE, Server, free_port, wait_for

HERE = "DNS:localhost,IP:127.0.0.1,IP:::1"


class Certificates:
    """PEM files in a directory: an authority, what it signed, and what it did not."""

    def __init__(self, room):
        self.room = pathlib.Path(room)
        self.authority("ca")
        self.sign("server", HERE)
        self.sign("client", "DNS:client")
        self.sign("expired", HERE, days=-1)
        self.sign("elsewhere", "DNS:elsewhere.example")
        self.authority("other")
        self.sign("stranger", "DNS:client", by="other")
        # Signed by nobody else, as people make them for a test.
        self.openssl("req", "-x509", *self.new_key("alone"), "-out", self / "alone.crt", "-days", 2,
                     "-subj", "/CN=localhost", "-addext", f"subjectAltName={HERE}")

    def __truediv__(self, name):
        return str(self.room / name)

    @staticmethod
    def openssl(*words):
        done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stderr)

    def new_key(self, name):
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                self / f"{name}.key")

    def authority(self, name):
        self.openssl("req", "-x509", *self.new_key(name), "-out", self / f"{name}.crt", "-days", 2,
                     "-subj", f"/CN={name}")

    def sign(self, name, names, by="ca", days=2):
        self.openssl("req", *self.new_key(name), "-out", self / f"{name}.csr", "-subj",
                     f"/CN={name}")
        (self.room / f"{name}.ext").write_text(f"subjectAltName={names}\n")
        self.openssl("x509", "-req", "-in", self / f"{name}.csr", "-CA", self / f"{by}.crt",
                     "-CAkey", self / f"{by}.key", "-CAcreateserial", "-days", days, "-extfile",
                     self / f"{name}.ext", "-out", self / f"{name}.crt")

    def at_server(self, name="server", clients="no"):
        """Options of redis-server; whether clients need certificates."""
        return ("--tls-cert-file", self / f"{name}.crt", "--tls-key-file", self / f"{name}.key",
                "--tls-ca-cert-file", self / "ca.crt", "--tls-auth-clients", clients)


class SecureServer(Server):
    def start(self):
        self.secure_port = free_port()
        self.options = (*self.plain_options, "--tls-port", self.secure_port)
        super().start()

    def __init__(self, *options, **more):
        self.plain_options = options
        super().__init__(**more)

    def url(self, name="", host="localhost", user=""):
        return f"rediss://{user}{host}:{self.secure_port}/{name}"


@contextlib.contextmanager
def secure_cluster(certificates, masters=3, options=()):
    """A Cluster whose servers know each other by their TLS ports."""
    servers = []
    try:
        for _ in range(masters):
            servers.append(SecureServer(*OPTIONS, *certificates.at_server(), "--tls-cluster", "yes",
                                        "--tls-replication", "yes", *options))
        done = subprocess.run(["redis-cli", "--tls", "--cacert", certificates / "ca.crt",
                               "--cluster", "create",
                               *[f"127.0.0.1:{s.secure_port}" for s in servers], "--cluster-yes"],
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        wait_for(lambda: all(b"cluster_state:ok" in s.client().do("CLUSTER", "INFO")
                             for s in servers), "no cluster")
        yield Cluster(servers)
    finally:
        for server in servers:
            server.__exit__(*sys.exc_info())
