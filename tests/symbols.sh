#!/bin/sh
# In the build directory: no object outside its instruction set's library has that set's
# instructions, the libraries do have them, and every global symbol starts with n2d_.
set -u
objdump=${OBJDUMP:-objdump}
nm=${NM:-nm}
passed=0 failed=0
good() { passed=$((passed + 1)); }
bad() {
	echo "FAIL $*"
	failed=$((failed + 1))
}

# Objects of an instruction set's library are named for it by automake: libsimd_avx2_a-reduce.o.
# Instructions of an object that a processor without AVX, or with AVX2 alone, does not have.
vex='[[:space:]](v[a-z0-9]+|shlx|shrx|sarx|rorx|mulx|pdep|pext|andn|bextr|blsr|blsi|blsmsk)[[:space:]]'
evex='%zmm[0-9]|%k[0-7]|%[xy]mm(1[6-9]|2[0-9]|3[01])'
above() {
	case $1 in
	baseline) pattern="%[yz]mm[0-9]|%k[0-7]|$vex" ;;
	avx2) pattern=$evex ;;
	avx512) return ;;
	esac
	$objdump -d --no-show-raw-insn "$2" | grep -E "^ *[0-9a-f]+:" | grep -vE '[[:space:]](verr|verw|vmcall)' | grep -E "$pattern" | head -n 3
}

level() {
	case $1 in
	*lib*_avx512_a-*) echo avx512 ;;
	*lib*_avx2_a-*) echo avx2 ;;
	*n2d_bench-plain.o) echo avx512 ;; # plain loops, a function for each instruction set: the compiler's part of the comparison
	*) echo baseline ;;
	esac
}

# has ISA REGEX: its library exists and uses what it was built for; and seen as the level below, is refused.
has() {
	o=$(find simd -name "libsimd_$1_a-reduce.o")
	[ -n "$o" ] || { echo "$1 is not built"; return; }
	$objdump -d --no-show-raw-insn "$o" | grep -qE "$2" && good || bad "$o has no $2"
	[ -n "$(above "$3" "$o")" ] && good || bad "$o passes as $3: this check sees nothing"
}

objects=$(find . -name '*.o' | sort)
[ -n "$objects" ] || { echo "no objects in $PWD: run in the build directory"; exit 99; }
if ! $objdump -f simd/cpu.o | grep -q x86-64; then
	echo "instructions: not an x86-64 build, not checked"
elif [ "${N2D_RAISED:-no}" = yes ]; then
	echo "instructions: CFLAGS raise the instruction set of everything, not checked"
else
	has avx2 'vfn?madd.*%ymm' baseline
	has avx512 'vfn?madd.*%zmm' avx2
	for o in $objects; do
		found=$(above "$(level "$o")" "$o")
		[ -z "$found" ] && good || bad "$o: instructions beyond $(level "$o"):
$found"
	done
fi

# What a user's program links: all of it ours by name.
lib=libn2d.a
defined=$($nm -g --defined-only "$lib" 2>/dev/null | awk 'NF == 3 {print $3}' | grep -v '^__odr_asan')
[ "$(printf '%s\n' "$defined" | grep -c '^n2d_')" -gt 20 ] && good || bad "$lib: hardly any symbols; was it built?"
printf '%s\n' "$defined" | grep -q '^n2d_scalar_kernels$' && good || bad "$lib: has no kernels"
foreign=$(printf '%s\n' "$defined" | grep -v '^n2d_' | sort -u)
[ -z "$foreign" ] && good || bad "$lib: global symbols without n2d_: $foreign"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
