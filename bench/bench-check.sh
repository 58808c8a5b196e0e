#!/bin/bash
# Is this build slower than a revision? In the build directory:
#	bench-check.sh REVISION [options of n2d-bench compare]
# The revision is built in a worktree of its own with this build's options, the two are run in turn, and the worktree goes away. The exit
# code is that of n2d-bench compare: 1 when something is slower.
set -u
src=${srcdir:-$(dirname "$0")/..}
[ $# -ge 1 ] || { echo "usage: bench-check.sh REVISION [options of n2d-bench compare]" >&2; exit 2; }
base=$(git -C "$src" rev-parse --verify --quiet "$1^{commit}") || { echo "bench-check: '$1' is no revision of a git repository at $src" >&2; exit 2; }
name=$1
shift
revision() { git -C "$src" log -1 --format='%h %s' "$1"; }
scratch=$(mktemp -d) || exit 99
clean() {
	git -C "$src" worktree remove --force "$scratch/src" 2>/dev/null
	rm -rf "$scratch"
	git -C "$src" worktree prune
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

build() {
	git -C "$src" worktree add -q --detach "$scratch/src" "$base" && (cd "$scratch/src" && ./bootstrap --no-install) && mkdir "$scratch/base" &&
		eval "set -- $(./config.status --config)" && cd "$scratch/base" && ../src/configure "$@" && "${MAKE:-make}" -j"$(nproc)" n2d-bench
}
echo "bench-check: building $name ($(revision "$base"))" >&2
(unset MAKEFLAGS MFLAGS MAKELEVEL && build) >"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" >&2; echo "bench-check: $name cannot be built" >&2; exit 2; }
changed=$(git -C "$src" status --porcelain --untracked-files=no)
./n2d-bench compare --base-name "$(revision "$base")" --head-name "$(revision HEAD)${changed:+, changed}" "$@" "$scratch/base" .
