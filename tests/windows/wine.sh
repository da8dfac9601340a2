#!/bin/sh
# Runs a Windows program under wine, in the configuration of the folder WINEPREFIX, without a
# display. wine leaves processes behind that keep its standard streams open, so the program does not
# get those of this script: ctest would wait for their end.
set -u
export WINEDEBUG=-all WINEDLLOVERRIDES='mscoree=;mshtml=;winemenubuilder.exe='
export LC_ALL=C.UTF-8 # for the names of files
unset DISPLAY
loader=/usr/lib/wine/wine64
[ -x "$loader" ] || loader=wine

# Two programs that start at the same time must not both start the server of wine and make its
# configuration: one of them would fail. So the first one starts a server, which stays for a minute
# after the last program.
flock -o "$WINEPREFIX.lock" sh -c '
    [ -f "$WINEPREFIX/system.reg" ] && [ -e "$WINEPREFIX/ready" ] && exit
    server=/usr/lib/wine/wineserver
    [ -x "$server" ] || server=wineserver
    mkdir -p "$WINEPREFIX" && "$server" -p60
    "$0" cmd /c exit && touch "$WINEPREFIX/ready"
' "$loader" >/dev/null 2>&1 </dev/null

printed=$(mktemp) || exit 1
trap 'rm -f "$printed"' EXIT
trap 'exit 1' HUP INT TERM
"$loader" "$@" >"$printed" 2>&1 </dev/null
status=$?
cat "$printed"
exit $status
