#!/bin/sh
# The floor table of HACKING.md, held by the #include lines: a folder includes only what stands
# below it. Each rule is first seen to fail on a planted line.
#	floors.sh [SOURCE]
set -u
src=${1:-${srcdir:-$(dirname "$0")/..}}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# rule FOLDER REGEX: every `#include X` (X with its quotes or brackets) of FOLDER's sources matches.
quoted() { printf '"(config\\.h|%s)"' "$1"; }
std='<(errno|float|inttypes|limits|math|stdalign|stdarg|stdbool|stddef|stdint|string)\.h>'
system='<[a-z0-9_/]+(\.h)?>'
base='simd/kernels\.(h|def)|base/[^"]+'
op="$base|op/[^\"]+"
layer="$op|layer/[^\"]+"
model="$layer|model/[^\"]+"
text="$base|text/[^\"]+"
above="$layer|(model|text|train|decode)/[^\"]+"
rules() {
	rule simd "$(quoted 'simd/[^"]+')|$std|<(immintrin|arm_neon|cpuid|sleef|sys/auxv)\.h>"
	rule src/base "$(quoted "$base")|$system"
	rule src/op "$(quoted "$op")|$std|<(assert|stdlib|stdio)\.h>"
	rule src/layer "$(quoted "$layer")|$std|<(assert|stdlib|stdio)\.h>"
	rule src/model "$(quoted "$model")|$std|<(assert|stdlib|stdio|jansson|zlib)\.h>"
	rule src/text "$(quoted "$text")|$system"
	rule src/train "$(quoted "$model|(text|train)/[^\"]+")|$std|<(assert|stdlib|stdio)\.h>"
	rule src/decode "$(quoted "$model|(text|decode)/[^\"]+")|$std|<(assert|stdlib|stdio)\.h>"
	rule src/cli "$(quoted "$above|cli/[^\"]+")|$system"
	rule tests "$(quoted "$above|simd/(isa\\.def|vec\\.h|attention\\.h)|bench/[^\"]+|tests/[^\"]+")|$system"
	rule bench "$(quoted "$above|bench/[^\"]+|tests/problem/[^\"]+")|$system"
	forbid 'memory, streams, environment or threads in' 'simd' \
		'\b(malloc|calloc|realloc|free|aligned_alloc|getenv|fopen|printf|fprintf|pthread_[a-z]+|omp_[a-z_]+) *\(|# *pragma omp'
	forbid 'an instruction set by name in' 'simd/body' '\b(_mm[0-9]*_[a-z]|__m(128|256|512)|float32x4_t|N2D_VEC_|__AVX|__SSE|__ARM|__aarch64__|__x86_64__)'
	forbid 'intrinsics in' 'src tests bench' '<(immintrin|x86intrin|arm_neon)\.h>|\b_mm[0-9]*_[a-z]'
	forbid 'inexact mathematics or this machine'\''s flags in' 'Makefile.am configure.ac simd/simd.am src/src.am' \
		'-ffast-math|-Ofast|-march=native|-funsafe-math'
	installed
}

# What is installed (src/src.am) includes only what is installed too.
installed() {
	[ -e "$root/src/src.am" ] || return 0
	headers=$(sed -e :a -e '/\\$/{N; s/\\\n//; ta' -e '}' "$root/src/src.am" |
		sed -nE 's/^(n2dsimdinclude_HEADERS|[a-z]+_headers) *= *//p' | tr -s '\t\n' '  ')
	(cd "$root" && for h in $headers; do
		sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/\1/p' "$h" | while read -r i; do
			case " $headers " in *" src/$i "* | *" $i "*) ;; *) echo "$h: includes $i, which is not installed" ;; esac
		done
	done)
}

sources() { find "$@" -type f \( -name '*.[ch]' -o -name '*.cc' -o -name '*.def' -o -name '*.am' -o -name '*.ac' \) 2>/dev/null; }

# Prints FILE:LINE: TEXT of each violation.
rule() {
	(cd "$root" && sources "$1" | xargs -r grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null |
		grep -vE "include[[:space:]]*($2)" | sed "s|\$|   (not for $1/)|")
}
forbid() {
	(cd "$root" && sources $2 | xargs -r grep -nE -e "$3" /dev/null | sed "s|\$|   ($1 $(echo "$2" | tr ' ' ','))|")
}

# planted FILE LINE [FILE LINE]: the rules must see it.
planted() {
	rm -rf "$scratch/tree"
	plant=$1:$2
	while [ $# -gt 0 ]; do
		mkdir -p "$scratch/tree/$(dirname "$1")"
		printf '%s\n' "$2" >"$scratch/tree/$1"
		shift 2
	done
	root=$scratch/tree
	if [ -n "$(rules)" ]; then passed=$((passed + 1)); else
		echo "FAIL not seen: $plant"
		failed=$((failed + 1))
	fi
}
planted simd/body/a.c '#include <stdio.h>'
planted simd/a.c '#include <stdlib.h>'
planted simd/a.c '#include "base/error.h"'
planted simd/body/a.c '	float *p = malloc(4);'
planted simd/body/a.c '#if defined N2D_VEC_avx2'
planted simd/body/a.c '	__m256 v = _mm256_setzero_ps();'
planted src/base/a.c '#include "op/gemm.h"'
planted src/op/a.c '#include "layer/layer.h"'
planted src/op/a.c '#include "simd/vec.h"'
planted src/op/a.c '#include <immintrin.h>'
planted src/op/a.h '#include <omp.h>'
planted src/layer/a.c '#include "cli/cli.h"'
planted src/layer/a.c '  #  include "model/model.h"'
planted src/model/a.c '#include "train/loop.h"'
planted src/text/a.c '#include "model/config.h"'
planted src/train/a.c '#include "cli/cli.h"'
planted src/decode/a.c '#include "cli/cli.h"'
planted src/cli/a.c '#include "simd/vec.h"'
planted tests/a.c '#include "simd/vec_avx2.h"'
planted bench/a.c '#include "tests/unit.h"'
planted bench/a.cc '#include "cli/cli.h"'
planted src/src.am 'libn2d_a_CFLAGS = -O3 -ffast-math'
planted src/model/a.h '#include "model/b.h"' src/src.am 'model_headers = src/model/a.h'

root=$src
checked=$(cd "$root" && sources simd src tests bench | wc -l)
[ "$checked" -gt 40 ] || { echo "FAIL only $checked sources found in $src"; failed=$((failed + 1)); }
found=$(rules)
if [ -z "$found" ]; then passed=$((passed + 1)); else
	printf 'FAIL includes against the floors (HACKING.md):\n%s\n' "$found"
	failed=$((failed + 1))
fi
echo "$checked sources"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
