#!/bin/sh
# fresh.sh [COMMAND...]: runs the commands of the README, or those given, one after the other, in a
# fresh clone of this tree in a bare Debian 12, where nothing is installed that ./run does not
# install. Only committed files are cloned.
#
#     tools/fresh.sh                              # ./run demo, then ./run test
#     tools/fresh.sh './run test' './run bench cli --quick'
#
# The base is made once by debootstrap and kept in the user's cache directory, with the downloaded
# packages. The mirror, the settings of apt and the registry of npm are those of this machine.
# Processes that a command leaves behind end with it. The exit status is that of the first command
# that fails. If no base can be made (no root, no network, no debootstrap), a warning says why and
# the commands run in this tree.
set -eu
cd "$(dirname "$0")/.."
tree=$PWD
release=bookworm

warn() { printf 'fresh.sh: %s\n' "$*" >&2; }

# The commands, one on a line: those of the README's first block, without their comments.
commands() {
    if [ $# -gt 0 ]; then
        printf '%s\n' "$@"
    else
        awk '/^```/ { if (inside) exit; inside = $0 == "```sh"; next }
             inside { sub(/ *#.*/, ""); print }' README.md
    fi
}

# run_directly WHY COMMAND...
run_directly() {
    warn "no bare Debian 12: $1. The commands run directly."
    shift
    commands "$@" | while read -r command; do
        printf '\n$ %s\n' "$command"
        sh -c "$command" </dev/null || exit
    done
    exit
}

# Lines of sources.list for the repositories of Debian that apt uses here, if this is a Debian 12.
host_sources() {
    # shellcheck disable=SC1091 # a file of the system
    [ "$(. /etc/os-release && echo "$ID ${VERSION_CODENAME-}")" = "debian $release" ] || return 0
    # shellcheck disable=SC2016 # the dollars are apt's
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Identifier: Packages' 'Origin: Debian' | sort -u
}

# make_base FILE MIRROR: a minimal system as a tar file.
make_base() {
    room=$(mktemp -d "$cache/base.XXXXXX")
    # shellcheck disable=SC2086 # no mirror: debootstrap has a default
    if debootstrap --variant=minbase $release "$room/root" $2 >"$cache/debootstrap.log" 2>&1; then
        tar -C "$room/root" --one-file-system -cf "$1.part" . && mv "$1.part" "$1"
    fi
    rm -rf "$room"
    [ -f "$1" ]
}

# Where the packages come from, and how they are reached.
configure_root() {
    [ -z "$sources" ] || printf '%s\n' "$sources" >"$1/etc/apt/sources.list"
    # Proxies and the like, but no files and programs of this machine.
    apt-config dump 2>/dev/null | grep -E '^Acquire::(https?|ftp|Retries|Check)' |
        grep -v '"/' >"$1/etc/apt/apt.conf.d/99host" || true
    printf '%s::Keep-Downloaded-Packages "true";\n' Binary::apt::APT APT \
        >"$1/etc/apt/apt.conf.d/99keep"
    cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
    if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
        cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/host-certificates.crt"
        echo 'Acquire::https::CaInfo "/etc/host-certificates.crt";' >>"$1/etc/apt/apt.conf.d/99host"
    fi
}

[ "$(id -u)" = 0 ] || run_directly 'it takes root' "$@"
if ! command -v debootstrap >/dev/null; then
    apt-get update -qq || true
    DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends debootstrap >/dev/null || true
    command -v debootstrap >/dev/null || run_directly 'debootstrap cannot be installed' "$@"
fi
unshare --mount --pid --fork true 2>/dev/null ||
    run_directly 'file systems cannot be mounted here' "$@"

cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tamis
mkdir -p "$cache/archives/partial"
# One run at a time: runs share the packages, and what a killed one has left is removed.
exec 9>"$cache/lock"
flock 9
rm -rf "$cache"/root.* "$cache"/base.* "$cache"/*.part
sources=$(host_sources)
base=$cache/debian-$release-$(dpkg --print-architecture 2>/dev/null || uname -m).tar
mirror=$(printf '%s\n' "$sources" | awk -v release=$release '$3 == release { print $2; exit }')
[ -f "$base" ] || make_base "$base" "$mirror" ||
    run_directly "debootstrap failed ($(tail -n 1 "$cache/debootstrap.log"))" "$@"

[ -z "$(git status --porcelain)" ] || warn 'changes that are not committed are left out'
root=$(mktemp -d "$cache/root.XXXXXX")
trap 'rm -rf "$root"' EXIT
trap 'exit 1' HUP INT TERM
tar -C "$root" -xf "$base"
configure_root "$root"
git clone --quiet --no-hardlinks "$tree" "$root/srv/tamis"
commands "$@" >"$root/srv/commands"
registry=$(npm config get registry 2>/dev/null || true)

# The commands run in namespaces of their own: mounts and processes are gone when this ends, however
# it ends.
cat >"$root/srv/inside" <<'INSIDE'
set -eu
cd /srv/tamis
exec 3</srv/commands
while read -r command <&3; do
    printf '\n$ %s\n' "$command"
    sh -c "$command" </dev/null 3<&-
done
INSIDE
cat >"$root/srv/outside" <<'OUTSIDE'
set -eu
root=$1
mount -t proc proc "$root/proc"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
ln -sf pts/ptmx "$root/dev/ptmx"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount --bind "$2" "$root/var/cache/apt/archives"
registry=$3
set -- PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LANG=C.UTF-8 CI="${CI-}"
for name in http_proxy https_proxy no_proxy; do
    eval "value=\${$name-}"
    # shellcheck disable=SC2154 # set by eval
    [ -z "$value" ] || set -- "$@" "$name=$value"
done
[ ! -f "$root/etc/host-certificates.crt" ] ||
    set -- "$@" NODE_EXTRA_CA_CERTS=/etc/host-certificates.crt
[ -z "$registry" ] || set -- "$@" npm_config_registry="$registry"
exec chroot "$root" env -i "$@" sh /srv/inside
OUTSIDE
mkdir -p "$tree/build"
rm -f "$tree/build/test-fresh.xml"
status=0
unshare --mount --propagation private --pid --fork --kill-child \
    sh "$root/srv/outside" "$root" "$cache/archives" "$registry" 9>&- || status=$?
cp "$root/srv/tamis/build/test.xml" "$tree/build/test-fresh.xml" 2>/dev/null || true
exit $status
