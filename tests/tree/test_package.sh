#!/bin/sh
# Checks the Debian packages of a release: their form by lintian, their contents and dependencies.
# Installs them below a scratch root, uses them from there, and removes them again. The test
# release_made (tests/CMakeLists.txt) makes them, in build/release-test; tests/long/
# test_long_packages.py installs them in a system of their own. TAMIS_SOURCE is the tree (default:
# the one of this script), and TAMIS_BUILD its build.
set -u

source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TAMIS_BUILD:-$source/build}
for tool in dpkg dpkg-deb lintian redis-server redis-cli; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

fail() {
    printf 'FAILED: %s\n' "$1"
    failures=$((failures + 1))
}

# try WHAT COMMAND...: quiet unless it fails.
try() {
    what=$1
    shift
    "$@" >"$room/log" 2>&1 && return 0
    fail "$what"
    sed 's/^/    /' "$room/log"
    return 1
}

same() {
    [ "$2" = "$3" ] && return 0
    fail "$1"
    printf '    wanted:\n%s\n    got:\n%s\n' "$2" "$3"
}

unset DESTDIR CFLAGS LDFLAGS LD_LIBRARY_PATH PKG_CONFIG_PATH

version=$(sed -n 's/^#define TAMIS_VERSION_STRING "\(.*\)"/\1/p' "$source/include/tamis/tamis.h")
major=${version%%.*}
revision=$version-0tamis1
machine=$(dpkg --print-architecture)
packages=$build/release-test/$version/deb
[ -f "$packages/tamis_$revision.dsc" ] ||
    { echo "$packages has no packages; the test release_made makes them"; exit 77; }

# --- What they are ------------------------------------------------------------------------------
same 'the packages' \
    "libsqlite3-mod-tamis_${revision}_$machine.deb
libtamis-dev_${revision}_$machine.deb
libtamis${major}_${revision}_$machine.deb
postgresql-15-tamis_${revision}_$machine.deb
python3-tamis_${revision}_$machine.deb
redis-tamis_${revision}_$machine.deb
tamis_$revision.debian.tar.xz
tamis_$revision.dsc
tamis_${revision}_$machine.deb
tamis_$version.orig.tar.xz" "$(cd "$packages" && LC_ALL=C && printf '%s\n' *)"
try 'the source is that of the release' \
    cmp "$packages/tamis_$version.orig.tar.xz" "$packages/../tamis-$version-src.tar.xz"
# No errors, no warnings, and no override that is not used.
try 'lintian is content' lintian --allow-root --fail-on error,warning --tag-display-limit 0 \
    "$packages/tamis_$revision.dsc" "$packages"/*.deb
! grep -q unused-override "$room/log" || fail "an override is not used: $(cat "$room/log")"
field() { dpkg-deb -f "$packages/$1_${revision}_$machine.deb" "$2"; }
for library in libc6 zlib1g libzstd1 libbz2-1.0 liblzma5 libhogweed6 libhiredis0.14; do
    case " $(field tamis Depends)," in
    *" $library"[\ ,]*) ;;
    *) fail "tamis does not depend on $library: $(field tamis Depends)" ;;
    esac
done
same 'libraries that are loaded at run time' 'ca-certificates, libcurl4, libmicrohttpd12, libssl3' \
    "$(field tamis Recommends)"
if dpkg-deb --ctrl-tarfile "$packages/tamis_${revision}_$machine.deb" | tar -t |
    grep -Eq 'inst$|rm$'; then
    fail 'the package of the command has scripts, so that it could start something'
fi
case "$(field "libtamis$major" Depends)" in
*zlib* | *lmdb*) fail "the library needs more than libc: $(field "libtamis$major" Depends)" ;;
*'libc6 ('*) ;;
*) fail "the library's needs are not known: $(field "libtamis$major" Depends)" ;;
esac
for package in "libtamis$major (= $revision)" 'python3 (>= 3.11)' 'libc6 ('; do
    case "$(field python3-tamis Depends)" in
    *"$package"*) ;;
    *) fail "python3-tamis does not depend on $package" ;;
    esac
done
case "$(field postgresql-15-tamis Depends)" in
*postgresql-15*) ;;
*) fail "the extension does not depend on its server: $(field postgresql-15-tamis Depends)" ;;
esac
case "$(field redis-tamis Depends)" in
*'redis-server ('*) ;;
*) fail "the module does not depend on its server: $(field redis-tamis Depends)" ;;
esac
same 'headers go with their library' "libtamis$major (= $revision)" "$(field libtamis-dev Depends)"

# --- What they hold -----------------------------------------------------------------------------
root=$room/root
mkdir -p "$root"
for package in "$packages"/*.deb; do try "unpack $package" dpkg-deb -x "$package" "$root"; done
triplet=$(cd "$root/usr/lib" && ls -d -- *-linux-*)
modules=usr/lib/python3/dist-packages
same 'the files' "$(LC_ALL=C sort <<FILES
usr/bin/tamis
usr/include/tamis-reader.h
$(cd "$source/include" && find . -type f | sed 's|^\.|usr/include|' | sort)
usr/lib/$triplet/cmake/tamis/tamis-config-release.cmake
usr/lib/$triplet/cmake/tamis/tamis-config-version.cmake
usr/lib/$triplet/cmake/tamis/tamis-config.cmake
usr/lib/$triplet/libtamis.a
usr/lib/$triplet/libtamis.so
usr/lib/$triplet/libtamis.so.$major
usr/lib/$triplet/libtamis.so.$version
usr/lib/$triplet/pkgconfig/tamis.pc
usr/lib/$triplet/redis/modules/tamis-redis.so
usr/lib/$triplet/tamis_sqlite.so
usr/lib/postgresql/15/lib/tamis.so
$(cd "$source/guard" && find systemd -type f | sed 's|^systemd|lib/systemd/system|')
$(cd "$source/python" && printf '%s\n' tamis/*.py tamis/*.pyi | sed "s|^|$modules/|")
$modules/tamis/_tamis.abi3.so
$modules/tamis/py.typed
$modules/tamis-$version.dist-info/INSTALLER
$modules/tamis-$version.dist-info/METADATA
usr/share/bash-completion/completions/tamis
usr/share/fish/vendor_completions.d/tamis.fish
usr/share/lintian/overrides/libsqlite3-mod-tamis
usr/share/man/man1/tamis.1.gz
usr/share/postgresql/15/extension/tamis--1.0.sql
usr/share/postgresql/15/extension/tamis.control
usr/share/zsh/vendor-completions/_tamis
FILES
)" "$(cd "$root" && find . -path ./usr/share/doc -prune -o ! -type d -print | sed 's|^\./||' |
    LC_ALL=C sort)"
for package in libsqlite3-mod-tamis libtamis-dev "libtamis$major" postgresql-15-tamis \
    python3-tamis redis-tamis tamis; do
    for document in copyright changelog.gz changelog.Debian.gz; do
        [ -s "$root/usr/share/doc/$package/$document" ] || fail "$package has no $document"
    done
done
same 'the monitoring of Redis' "$(cd "$source/redis/monitoring" && printf '%s\n' *)" \
    "$(cd "$root/usr/share/doc/redis-tamis/examples" && printf '%s\n' *)"
! grep -rnE '@[A-Z_]+@' "$root/usr/share/doc" || fail 'something is left to fill in'
same 'the soname' "libtamis.so.$major" \
    "$(readelf -d "$root/usr/lib/$triplet/libtamis.so.$version" |
        sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')"
dpkg-deb --ctrl-tarfile "$packages/libtamis${major}_${revision}_$machine.deb" |
    tar -xO ./triggers | grep -q '^activate-noawait ldconfig$' ||
    fail 'ldconfig is not called for the new library'
if readelf -d "$root/usr/bin/tamis" | grep -Eq 'R(UN)?PATH'; then
    fail 'the command looks for libraries where it was built'
fi
try 'the packages are as hard as the build' /usr/bin/python3 "$source/tests/tree/test_hardened.py" \
    "$root/usr/bin/tamis" "$root/usr/lib/$triplet/libtamis.so.$version" \
    "$root/$modules/tamis/_tamis.abi3.so" "$root/usr/lib/$triplet/tamis_sqlite.so"
[ -s "$root/usr/share/man/man1/tamis.1.gz" ] || fail 'the manual page is empty'

# --- They work ----------------------------------------------------------------------------------
use_command() {
    printf 'a\nb\n' | "$root/usr/bin/tamis" build -o "$room/ab.tamis" &&
        [ "$(printf 'b\nzebra\n' | "$root/usr/bin/tamis" check "$room/ab.tamis")" = b ] &&
        [ "$("$root/usr/bin/tamis" --version)" = "tamis $version" ]
}
try 'the command' use_command
# Word splitting is what pkg-config's output is for.
# shellcheck disable=SC2046
use_library() {
    ${CC:-cc} "$source/tests/outside/main.c" -o "$room/a" \
        $(PKG_CONFIG_PATH=$root/usr/lib/$triplet/pkgconfig pkg-config --cflags --libs tamis) &&
        LD_LIBRARY_PATH=$root/usr/lib/$triplet "$room/a" "$room/a.tamis"
}
try 'the library' use_library
use_module() (
    cd "$room" && env LD_LIBRARY_PATH="$root/usr/lib/$triplet" PYTHONPATH="$root/$modules" \
        PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c "
import importlib.metadata, tamis
assert tamis.__file__.startswith('$root'), tamis.__file__
assert tamis.__version__ == importlib.metadata.version('tamis') == '$version'
seen = tamis.open('ab.tamis')
assert 'a' in seen and 'zebra' not in seen
assert 'libtamis.so.$major' in open('/proc/self/maps').read()"
)
try 'the module for Python' use_module
ask() { redis-cli -s "$room/socket" "$@"; }
use_redis() {
    redis-server --port 0 --unixsocket "$room/socket" --dir "$room" --save '' --daemonize yes \
        --pidfile "$room/redis.pid" --logfile "$room/redis.log" \
        --loadmodule "$root/usr/lib/$triplet/redis/modules/tamis-redis.so" || return 1
    for _ in 1 2 3 4 5 6 7 8 9 10; do ! ask ping >/dev/null 2>&1 || break; sleep 1; done
    [ "$(ask BF.ADD seen a)" = 1 ] && [ "$(ask BF.EXISTS seen zebra)" = 0 ] &&
        [ "$(ask -x TAMIS.LOAD ab <"$room/ab.tamis")" = OK ] && [ "$(ask TAMIS.HAS ab a)" = 1 ]
    answers=$?
    ask shutdown nosave
    [ $answers = 0 ] || { cat "$room/redis.log"; return 1; }
}
try 'the module for Redis' use_redis
use_sqlite() {
    /usr/bin/python3 -c "
import sqlite3
db = sqlite3.connect(':memory:')
db.enable_load_extension(True)
db.load_extension('$root/usr/lib/$triplet/tamis_sqlite')
there = 'SELECT tamis_contains(tamis_file(?), ?)'
assert db.execute(there, ('$room/ab.tamis', 'a')).fetchone() == (1,)
assert db.execute(there, ('$room/ab.tamis', 'zebra')).fetchone() == (0,)"
}
try 'the extension for SQLite' use_sqlite

# --- dpkg takes them, and takes them away again -------------------------------------------------
if [ "$(id -u)" = 0 ]; then
    below=$room/below
    mkdir -p "$below/var/lib/dpkg/info" "$below/var/lib/dpkg/updates" "$below/var/lib/dpkg/triggers"
    : >"$below/var/lib/dpkg/status"
    # Their dependencies are not below that root, nor is a shell: their scripts run outside, with
    # tools that only record their call.
    mkdir "$room/bin"
    for tool in py3compile py3clean; do
        printf '#!/bin/sh\necho "%s $*" >>"%s"\n' "$tool" "$room/called" >"$room/bin/$tool"
        chmod +x "$room/bin/$tool"
    done
    dpkg_below() {
        PATH=$room/bin:$PATH dpkg --root="$below" --force-depends --force-script-chrootless \
            --log=/dev/null "$@"
    }
    try 'dpkg --install' dpkg_below --install "$packages"/*.deb &&
        same 'dpkg installs what dpkg-deb unpacks' "$(cd "$root" && find . ! -type d | sort)" \
            "$(cd "$below" && find . -path ./var -prune -o ! -type d -print | sort)"
    try 'dpkg --remove' dpkg_below --remove tamis libtamis-dev python3-tamis \
        libsqlite3-mod-tamis postgresql-15-tamis redis-tamis "libtamis$major" &&
        same 'nothing is left' '' "$(cd "$below" && find . -path ./var -prune -o ! -type d -print)"
    same 'modules of Python are compiled, and removed again' "py3clean -p python3-tamis:$machine
py3compile -p python3-tamis:$machine" "$(grep ^py3 "$room/called" | sort)"
fi

[ "$failures" -eq 0 ] && echo 'packed, installed, used and removed'
[ "$failures" -eq 0 ]
