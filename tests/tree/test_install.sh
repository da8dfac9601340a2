#!/bin/sh
# Installs the library into a temporary place, checks what was installed, and uses it from there as
# a stranger would: through pkg-config, through CMake's find_package and add_subdirectory, and as
# bare sources. Then does what ./run install and uninstall do, with all that was built. TAMIS_SOURCE
# is the tree (default: the one of this script), and TAMIS_BUILD its build.
set -u

source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
cc=${CC:-cc}
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
    if "$@" >"$room/log" 2>&1; then
        return 0
    fi
    fail "$what"
    sed 's/^/    /' "$room/log"
    return 1
}

# same WHAT WANTED GOT
same() {
    if [ "$2" != "$3" ]; then
        fail "$1"
        printf '    wanted:\n%s\n    got:\n%s\n' "$2" "$3"
    fi
}

needs() {
    readelf -d "$1" | grep -q 'NEEDED.*\[libtamis\.so\.'
}

# The generator of the environment, else ninja when there is one.
[ -n "${CMAKE_GENERATOR:-}" ] || ! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja
# What the caller's build exports is not for strangers.
unset DESTDIR CFLAGS LDFLAGS LD_LIBRARY_PATH PKG_CONFIG_PATH

prefix=$room/usr
try 'configure' cmake -S "$source" -B "$room/build" -DTAMIS_TESTS=OFF -DTAMIS_CLI=OFF \
    -DTAMIS_WEB=OFF \
    -DTAMIS_BENCH=OFF -DTAMIS_GUARD=OFF -DTAMIS_REDIS=OFF -DTAMIS_SQL=OFF &&
    try 'build' cmake --build "$room/build" &&
    try 'install' cmake --install "$room/build" --prefix "$prefix" || exit 1
libtamis=$(find "$prefix" -name libtamis.so)
lib=$(dirname "$libtamis")

# --- What was installed -------------------------------------------------------------------------
same 'the installed headers are those of include/, and the reader' \
    "$( (cd "$source/include" && find . -type f && echo ./tamis-reader.h &&
        { [ ! -e "$lib/libtamis-cuda.so" ] || echo ./tamis/cuda.h; }) | sort)" \
    "$(cd "$prefix/include" && find . -type f | sort)"
major=$(sed -n 's/^#define TAMIS_VERSION_MAJOR //p' "$source/include/tamis/tamis.h")
same 'the soname carries the major version' "libtamis.so.$major" \
    "$(readelf -d "$libtamis" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')"
same 'only tamis_* and tamis__* are global in the archive' '' \
    "$(nm -g --defined-only "$lib/libtamis.a" | awk 'NF == 3 && $3 !~ /^tamis_/ {print $3}')"
# The names in src/exports.map are those of the headers: tests/abi/test_symbols.py.
same 'what src/exports.map lists is exported, and nothing else' \
    "$(sed -n 's/^ *\(tamis_[a-z0-9_]*\);$/\1/p' "$source/src/exports.map" | sort)" \
    "$(nm -D --defined-only "$libtamis" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)"
version=$(sed -n 's/^#define TAMIS_VERSION_STRING "\(.*\)"/\1/p' "$source/include/tamis/tamis.h")
same 'header and package have one version' "$version" \
    "$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --modversion tamis)"

# --- DESTDIR: a package's staging ---------------------------------------------------------------
staged() {
    DESTDIR=$room/stage cmake --install "$room/build" --prefix "$room/elsewhere"
}
if try 'install under DESTDIR' staged; then
    same 'DESTDIR has all that the prefix has' "$(cd "$prefix" && find . | sort)" \
        "$(cd "$room/stage$room/elsewhere" && find . | sort)"
    [ ! -e "$room/elsewhere" ] || fail 'DESTDIR was not respected'
fi

# --- pkg-config, shared and static --------------------------------------------------------------
# with_pkg_config OUT [FLAG-OF-PKG-CONFIG FLAG-OF-CC]
# Word splitting is what pkg-config's output is for.
# shellcheck disable=SC2046
with_pkg_config() {
    PKG_CONFIG_PATH=$lib/pkgconfig
    export PKG_CONFIG_PATH
    pkg-config --exists --print-errors tamis && "$cc" ${3:+"$3"} "$source/tests/outside/main.c" \
        -o "$1" $(pkg-config --cflags --libs ${2:+"$2"} tamis)
}
if try 'pkg-config, shared' with_pkg_config "$room/a"; then
    needs "$room/a" || fail 'pkg-config did not link with the shared library'
    try 'run with the shared library' env LD_LIBRARY_PATH="$lib" "$room/a" "$room/a.tamis"
fi
if try 'pkg-config, static' with_pkg_config "$room/b" --static -static; then
    try 'run without the shared library' "$room/b" "$room/b.tamis"
fi

# --- The library for GPUs, where nvcc was found; it runs without a GPU ----------------------------
# shellcheck disable=SC2046
with_cuda() {
    printf '%s\n' '#include <tamis/cuda.h>' '#include <stdio.h>' \
        'int main(void) { tamis_error why;' \
        'return tamis_cuda_available(&why) ? 0 : puts(why.text) <= 0; }' >"$room/gpu.c"
    "$cc" "$room/gpu.c" -o "$1" \
        $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs tamis-cuda)
}
if [ -e "$lib/libtamis-cuda.so" ]; then
    try 'pkg-config, the library for GPUs' with_cuda "$room/g" &&
        try 'run with the library for GPUs' env LD_LIBRARY_PATH="$lib" "$room/g"
fi

# --- C++, which needs only the installed headers -------------------------------------------------
# shellcheck disable=SC2046
with_cxx() {
    c++ -std=c++17 -fno-exceptions "$source/tests/include/quiet.cc" -o "$1" \
        $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs tamis)
}
if command -v c++ >/dev/null && try 'C++' with_cxx "$room/d"; then
    try 'run in C++' env LD_LIBRARY_PATH="$lib" "$room/d"
fi

# --- CMake: an installed package, and the source tree as a part ---------------------------------
with_cmake() {
    form=$1
    shift
    try "$form: configure" cmake -S "$source/tests/outside" -B "$room/$form" \
        -DCMAKE_BUILD_TYPE=Debug "$@" &&
        try "$form: build" cmake --build "$room/$form" &&
        try "$form: run, shared" "$room/$form/with_shared" "$room/shared.tamis" &&
        try "$form: run, static" "$room/$form/with_static" "$room/static.tamis" || return
    needs "$room/$form/with_shared" || fail "$form: tamis::shared is not the shared library"
    ! needs "$room/$form/with_static" || fail "$form: tamis::static is the shared library"
}
with_cmake find_package -DCMAKE_PREFIX_PATH="$prefix" -DTAMIS_VERSION="$version"
with_cmake add_subdirectory -DTAMIS_TREE="$source"
[ ! -e "$room/add_subdirectory/tamis/tamis" ] || fail 'add_subdirectory builds the command, too'

# --- Nothing but a compiler ---------------------------------------------------------------------
# shellcheck disable=SC2046 # a list of words
if try 'bare sources' "$cc" -I"$source/include" $(find "$source/src" -name "*.c") \
    "$source/tests/outside/main.c" -lm -o "$room/c"; then
    try 'run from bare sources' "$room/c" "$room/c.tamis"
fi

# --- ./run install, into a folder with a space in its name ---------------------------------------
door() {
    (cd "$source" && TAMIS_BUILD=${TAMIS_BUILD:-$source/build} TAMIS_CALLER=$room \
        SHELL=/bin/sh sh tools/install.sh "$@")
}
# shellcheck disable=SC2030,SC2031 # in the subshell only
again() { (PATH="$home/.local/bin:$PATH" && door install "--prefix=$home/.local"); }
# said TEXT: whether the last command of try printed this line.
said() { grep -qxF -e "$1" "$room/log" || { fail "not printed: $1"; cat "$room/log"; }; }

home="$room/my home"
mkdir "$home"
if try 'install' door install --prefix 'my home/.local'; then # where it was called
    said "  command      $home/.local/bin/tamis"
    said "  pkg-config   $home/.local/lib/pkgconfig/tamis.pc"
    said "  export PATH='$home/.local/bin':\"\$PATH\""
    share=$home/.local/share
    # shellcheck disable=SC2031 # for this command only
    same 'the installed command' "tamis $version" "$(PATH="$home/.local/bin:$PATH" tamis --version)"
    same 'the manual page' 'TAMIS(1)' "$(MANWIDTH=80 man -l "$share/man/man1/tamis.1" 2>/dev/null |
        sed -n '1s/ .*//p')"
    same 'completions of bash' 'found' "$(bash -c '. "$1" && complete -p tamis >/dev/null &&
        echo found' bash "$share/bash-completion/completions/tamis")"
    for shell in zsh fish; do
        file=$(find "$share/$shell" -type f)
        ! command -v $shell >/dev/null || try "completions of $shell" $shell -n "$file"
    done
    # A prefix without a space, because pkg-config's output is split into words.
    ln -s "$home/.local" "$room/linked"
    lib=$room/linked/lib
    if try 'pkg-config, after ./run install' with_pkg_config "$room/e"; then
        try 'run it' env LD_LIBRARY_PATH="$lib" "$room/e" "$room/e.tamis"
    fi
    # What an older version has installed and this one does not goes with the next install.
    list=$share/tamis/installed.txt
    : >"$home/.local/bin/tamis-of-old"
    echo "$home/.local/bin/tamis-of-old" >>"$list"
    : >"$room/elsewhere.txt" # a path outside the prefix is never removed
    printf '%s\n' "$room/elsewhere.txt" "$home/.local/../../elsewhere.txt" >>"$list"
    : >"$home/.local/bin/of-somebody-else"
    try 'install again' again
    ! grep -q 'export PATH' "$room/log" || fail 'asks for a PATH that is set'
    [ ! -e "$home/.local/bin/tamis-of-old" ] || fail 'a file of an older version is left'
    try 'uninstall' door uninstall --prefix "$home/.local/"
    same 'nothing is left' "$home/.local/bin/of-somebody-else" "$(find "$home" -type f -o -type l)"
    [ -e "$room/elsewhere.txt" ] || fail 'a file outside the prefix was removed'
    [ ! -e "$home/.local/include/tamis" ] || fail 'the folder of the headers is left'
fi
# refused REASON WORD...: the words are refused for this reason, and nothing is installed.
refused() {
    reason=$1
    shift
    door "$@" >"$room/log" 2>&1
    same "the status of $*" 2 $?
    said "$reason"
}
refused "./run uninstall: nothing is installed below $home/.local ($home/.local/share/tamis/\
installed.txt does not exist)" uninstall --prefix "$home/.local"
refused "./run install: --prefix needs a folder" install --prefix
refused "./run install: unknown option '--prefx'; usage: ./run install [--prefix DIR]" \
    install --prefx x
: >"$room/file"
refused "./run install: $room/file is not a folder; give another --prefix" install --prefix file
refused "./run install: nothing can be written to /proc; give another --prefix, such as ~/.local" \
    check --prefix /proc/tamis

[ "$failures" -eq 0 ] && echo 'installed and used in eight ways'
[ "$failures" -eq 0 ]
