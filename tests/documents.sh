#!/bin/sh
# README.md against what it tells of: its table of configure's options has each of them, and no others.
# In the build directory.
set -u
. "${srcdir:-.}/tests/program.sh"
: >"$scratch/err" >"$scratch/out"
options() { grep -oE -e "$1--(enable|disable|with|without)-[a-z0-9-]+" | grep -oE -e '--.*' | sort -u; }

what='options of configure'
# Those of Autoconf and Automake aside.
"${srcdir:-.}/configure" --help | options '^  ' | grep -vE '(option-checking|silent-rules|dependency-tracking|largefile)$' >"$scratch/has"
sed -n '/^## Options of configure/,/^## Use/s/^|\([^|]*\)|.*/\1/p' "${srcdir:-.}/README.md" | options '`' >"$scratch/told"
[ "$(wc -l <"$scratch/has")" -gt 10 ] && good || bad "$what: its help lists hardly any"
diff "$scratch/has" "$scratch/told" >"$scratch/out" && good || bad "$what: its help (<) and README.md (>) differ"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
