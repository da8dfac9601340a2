#!/bin/sh
# install.sh install|uninstall [--prefix DIR]: installs what ./run build has built, without root, or
# removes it again. Called by ./run, from the top of the tree; TAMIS_CALLER is the folder in which
# it was called. The list of installed files is kept in PREFIX/share/tamis.
set -eu
build=${TAMIS_BUILD:-$PWD/build}

say() { printf '%s\n' "$*" >&2; }
fail() { say "./run $verb: $*"; exit 2; }

usage() {
    cat <<'HELP'
usage: ./run install [--prefix DIR]
       ./run uninstall [--prefix DIR]

install builds what is missing, and installs the command, its manual page and completions, the
libraries with headers, pkg-config and CMake files, and the extensions for Redis and SQLite below
DIR. uninstall removes what install has put there. Neither needs root if DIR can be written.

  --prefix DIR   ~/.local if omitted, or /usr/local for root
HELP
}

# quoted WORD: as a shell reads it.
quoted() {
    case $1 in
    *[!A-Za-z0-9/._+,@%=:-]*) printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf %s "$1" ;;
    esac
}

# The prefix, absolute: relative ones start where ./run was called.
choose_prefix() {
    if [ -z "$prefix" ] && [ "$(id -u)" = 0 ]; then
        prefix=/usr/local
    elif [ -z "$prefix" ]; then
        prefix=${HOME:+$HOME/.local}
        [ -n "$prefix" ] || fail 'HOME is not set, so give --prefix DIR'
    fi
    case $prefix in
    \~ | \~/*) prefix=$HOME${prefix#\~} ;; # the shell does not expand it in --prefix=~/x
    /*) ;;
    *) prefix=${TAMIS_CALLER:-$PWD}/$prefix ;;
    esac
    while [ "$prefix" != / ] && [ "${prefix%/}" != "$prefix" ]; do prefix=${prefix%/}; done
    list=$prefix/share/tamis/installed.txt
}

# Refuses a prefix in which a file cannot be created, with the folder that is the reason.
check_prefix() {
    for part in bin include lib share; do
        folder=$prefix/$part
        while [ ! -e "$folder" ] && [ ! -L "$folder" ]; do folder=$(dirname "$folder"); done
        [ -d "$folder" ] || fail "$folder is not a folder; give another --prefix"
        trial=$(mktemp -d "$folder/.tamis-XXXXXX" 2>/dev/null) ||
            fail "nothing can be written to $folder; give another --prefix, such as ~/.local"
        rmdir "$trial"
    done
}

# only PATTERN: the first installed file whose path below the prefix matches it.
only() {
    while IFS= read -r file; do
        # shellcheck disable=SC2254 # a pattern
        case ${file#"$prefix/"} in $1) printf %s "$file"; return ;; esac
    done <"$list"
}

# row WHAT PATTERN [FOLDER]: a line of the report, if there is such a file.
row() {
    file=$(only "$2")
    [ -n "$file" ] || return 0
    [ -z "${3-}" ] || file=$(dirname "$file")
    printf '  %-12s %s\n' "$1" "$file"
}

report() {
    printf 'Installed below %s:\n' "$prefix"
    row command 'bin/tamis'
    row manual '*/man1/tamis.1'
    row bash '*/bash-completion/completions/tamis'
    row zsh '*/_tamis'
    row fish '*/tamis.fish'
    row library '*/libtamis.so'
    row static '*/libtamis.a'
    row headers 'include/tamis/tamis.h' folder
    row pkg-config '*/tamis.pc'
    row CMake '*/tamis-config.cmake' folder
    row Redis '*/tamis-redis.so'
    row SQLite '*/tamis_sqlite.so'
    printf '  %-12s ./run uninstall --prefix %s\n' 'to remove it' "$(quoted "$prefix")"
}

# What the shell's profile needs so that the command, and zsh its completions, are found.
advise() {
    bin=$prefix/bin
    case ":$PATH:" in
    *":$bin:"*) ;;
    *)
        line="export PATH=$(quoted "$bin"):\"\$PATH\""
        case ${SHELL-} in
        */fish) profile=.config/fish/config.fish line="fish_add_path $(quoted "$bin")" ;;
        */zsh) profile=.zshrc ;;
        */bash) profile=.bashrc ;;
        *) profile=.profile ;;
        esac
        printf '\nThe shell does not look for commands in %s yet.\n' "$bin"
        printf 'Put this line into ~/%s:\n  %s\n' "$profile" "$line"
        ;;
    esac
    case ${SHELL-}:$prefix in
    */zsh:/usr | */zsh:/usr/local) ;;
    */zsh:*)
        printf '\nFor completions, put this line into ~/.zshrc, before compinit:\n'
        printf '  fpath=(%s %sfpath)\n' "$(quoted "$prefix/share/zsh/site-functions")" '$'
        ;;
    esac
    case $prefix in
    /usr | /usr/local) ;;
    *)
        printf '\nTo build and run programs with the library:\n'
        printf '  export PKG_CONFIG_PATH=%s LD_LIBRARY_PATH=%s\n' \
            "$(quoted "$(dirname "$(only '*/tamis.pc')")")" \
            "$(quoted "$(dirname "$(only '*/libtamis.so')")")"
        ;;
    esac
}

# remove_listed FILE: removes the files that it lists, which are all below the prefix.
remove_listed() {
    while IFS= read -r file; do
        case $file in
        *"/../"*) ;;
        "$prefix"/*) rm -f -- "$file" ;;
        esac
    done <"$1"
}

install_all() {
    check_prefix
    log=$build/install.log old=$build/installed-before.txt new=$build/install_manifest.txt
    unset DESTDIR # packages are made by 'cmake --install'
    if ! cmake --install "$build" --prefix "$prefix" >"$log" 2>&1; then
        grep -v '^-- ' "$log" >&2 || true
        fail "could not install below $prefix; see $log"
    fi
    # Files of an older version that this one does not have are removed.
    if [ -f "$list" ]; then
        grep -vxF -f "$new" "$list" >"$old" || true
        remove_listed "$old"
        rm -f "$old"
    fi
    mkdir -p "$prefix/share/tamis"
    { cat "$new"; echo; } | sed '/^$/d' >"$list"
    report
    advise
}

uninstall_all() {
    [ -f "$list" ] || fail "nothing is installed below $prefix ($list does not exist)"
    check_prefix
    remove_listed "$list"
    # Folders that belong to Tamis alone; others stay, even if they are empty now.
    sed 's|/[^/]*$||' "$list" | sort -ru | while IFS= read -r folder; do
        case $folder in */tamis | */tamis/*) rmdir "$folder" 2>/dev/null || true ;; esac
    done
    rm -f "$list"
    rmdir "$prefix/share/tamis" 2>/dev/null || true
    printf 'Removed Tamis from %s.\n' "$prefix"
}

task=${1-} verb=$task prefix=''
[ "$task" != check ] || verb=install # before anything is built
shift
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) usage; exit 0 ;;
    --prefix)
        [ -n "${2-}" ] || fail '--prefix needs a folder'
        prefix=$2
        shift
        ;;
    --prefix=?*) prefix=${1#--prefix=} ;;
    --prefix=) fail '--prefix needs a folder' ;;
    *) fail "unknown option '$1'; usage: ./run $verb [--prefix DIR]" ;;
    esac
    shift
done
choose_prefix
case $task in
check) check_prefix ;;
install) install_all ;;
uninstall) uninstall_all ;;
*) usage >&2; exit 2 ;;
esac
