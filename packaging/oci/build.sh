#!/bin/sh
# build.sh FOLDER OUT [TAG]: an OCI image of redis-server with the module of Tamis, without Docker.
#
#     packaging/oci/build.sh build/release/1.0.0/deb build/oci 1.0.0
#
# FOLDER has Debian's packages as './run release deb' makes them. OUT becomes a folder in the layout
# of OCI images, which others read: 'podman run oci:build/oci:1.0.0', 'skopeo copy oci:...'. TAG is
# "latest" if omitted. The base is Debian 12, by mmdebstrap from the mirrors of this machine; umoci
# makes the image. SOURCE_DATE_EPOCH, if set, is the newest date in it. Needs root, or the right to
# make user namespaces.
#
# The server runs as the user redis, listens on port 6379 of the container, keeps its data in /data,
# and takes further options as arguments. It has no password, so publish the port only where you
# trust everybody, or give --requirepass.
set -eu
release=bookworm
fail() { printf 'build.sh: %s\n' "$*" >&2; exit 2; }
case $# in 2 | 3) ;; *) fail 'usage: build.sh FOLDER OUT [TAG]' ;; esac
packages=$1 out=$2 image=$2:${3-latest}
[ ! -e "$out" ] || fail "$out exists"
for tool in mmdebstrap umoci; do
    command -v $tool >/dev/null || fail "$tool is not installed"
done
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
cp "$packages"/redis-tamis_*.deb "$room/module.deb" || fail "$packages has no package redis-tamis"
chmod 755 "$room" # mmdebstrap may become another user

# The repositories that apt uses here, if this is the same Debian; otherwise those of mmdebstrap.
sources() {
    # shellcheck disable=SC1091 # a file of the system
    [ "$(. /etc/os-release && echo "$ID ${VERSION_CODENAME-}")" = "debian $release" ] || return 0
    # shellcheck disable=SC2016 # the dollars are apt's
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Identifier: Packages' 'Origin: Debian' | sort -u
}
sources >"$room/sources"
set -- "$room/rootfs.tar"
[ ! -s "$room/sources" ] || set -- "$@" "$room/sources"

# The hooks run outside, and find the new system at $1.
cat >"$room/install" <<'HOOK'
#!/bin/sh
set -eu
cp "${0%/*}/module.deb" "$1/tmp/module.deb"
chroot "$1" dpkg --install /tmp/module.deb
rm "$1/tmp/module.deb"
module=$(cd "$1" && printf '/%s\n' usr/lib/*/redis/modules/tamis-redis.so)
printf '%s\n' "loadmodule $module" 'dir /data' 'bind * -::*' 'protected-mode no' \
    >"$1/etc/redis/tamis.conf"
chmod 644 "$1/etc/redis/tamis.conf"
# mmdebstrap leaves the mirrors, the name and the name servers of the machine that builds.
rm -rf "$1/etc/apt/sources.list" "$1"/etc/apt/sources.list.d/* "$1/etc/hostname" \
    "$1/etc/resolv.conf"
mkdir "$1/data"
chroot "$1" chown redis:redis /data
HOOK
chmod 755 "$room/install"
mmdebstrap --quiet --variant=essential --include=redis-server --customize-hook="$room/install" \
    "$release" "$@"

created=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%dT%H:%M:%SZ)
umoci init --layout "$out"
umoci new --image "$image"
umoci raw add-layer --image "$image" --history.created "$created" \
    --history.created_by packaging/oci/build.sh "$room/rootfs.tar"
umoci config --image "$image" --created "$created" --no-history \
    --config.user redis --config.workingdir /data --config.volume /data \
    --config.exposedports 6379/tcp --config.stopsignal SIGTERM \
    --config.entrypoint redis-server --config.entrypoint /etc/redis/tamis.conf
umoci gc --layout "$out" >/dev/null
