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
printed=$(mktemp) || exit 1
trap 'rm -f "$printed"' EXIT
trap 'exit 1' HUP INT TERM
"$loader" "$@" >"$printed" 2>&1 </dev/null
status=$?
cat "$printed"
exit $status
