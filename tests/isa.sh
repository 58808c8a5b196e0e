#!/bin/sh
# The choice of the instruction set: every usable one can be forced and then is what runs; one that
# is not is refused with exit code 2, never tried. Where qemu is, also on processors without AVX.
# In the build directory.
set -u
passed=0 failed=0
bad() {
	echo "FAIL $*"
	failed=$((failed + 1))
}
good() { passed=$((passed + 1)); }
unset N2D_ISA

# in_use COMMAND...: the set that n2d info says is in use.
in_use() { "$@" | sed -n 's/^  \([a-z0-9]*\) .* in use .*/\1/p'; }
rows=$(./n2d info | sed -n '/^instruction sets/,/^$/s/^  \([a-z0-9]*\) .*/\1/p')
usable=$(./n2d info | grep -E '^  [a-z0-9]+ +compiled +supported' | awk '{print $1}')
[ -n "$usable" ] || bad "n2d info lists no usable instruction set"

for isa in $rows; do
	case " $(echo $usable) " in
	*" $isa "*)
		[ "$(in_use ./n2d info --isa "$isa")" = "$isa" ] && good || bad "--isa $isa is not what is in use"
		[ "$(in_use env N2D_ISA="$isa" ./n2d info)" = "$isa" ] && good || bad "N2D_ISA=$isa is not what is in use"
		tests/test-kernels --isa "$isa" --kernel dot | grep -q "^instruction sets tested: $isa *$" && good ||
			bad "test-kernels --isa $isa tests something else" ;;
	*)
		./n2d info --isa "$isa" >/dev/null 2>&1
		code=$?
		[ $code = 2 ] && good || bad "--isa $isa, which is not usable: exit code $code, should be 2" ;;
	esac
done

# A set that was expected and not tested is a failure.
N2D_EXPECT_ISAS="scalar sse9" tests/test-kernels --kernel dot >/dev/null && bad "N2D_EXPECT_ISAS=sse9 passes" || good
N2D_EXPECT_ISAS="scalar" tests/test-kernels --kernel dot >/dev/null && good || bad "N2D_EXPECT_ISAS=scalar fails"

# Processors without AVX-512, and without any AVX: detection decides, nothing ends in SIGILL.
on() { # CPU USABLE NOT-USABLE
	[ "$(in_use $qemu -cpu "$1" ./n2d info 2>/dev/null)" = "$2" ] && good || bad "on $1, $2 is not in use"
	# qemu 7.2's masked loads touch the whole vector: not at the end of a page.
	$qemu -cpu "$1" tests/test-kernels --kernel exp --dims 100 --place 0 >/dev/null 2>&1 && good || bad "on $1, test-kernels fails"
	for isa in $3; do
		message=$($qemu -cpu "$1" ./n2d info --isa "$isa" 2>&1 >/dev/null)
		code=$?
		[ $code = 2 ] && good || bad "on $1, --isa $isa: exit code $code, should be 2"
		echo "$message" | grep -q "^n2d info: --isa: $isa is not supported here .*; usable here: scalar" && good ||
			bad "on $1, --isa $isa says: $message"
	done
}
qemu=$(command -v qemu-x86_64-static || command -v qemu-x86_64)
compiled=" $(./n2d info | grep -E '^  [a-z0-9]+ +compiled' | awk '{print $1}' | tr '\n' ' ') "
both() { case $compiled in *" $1 "*) echo "$1" ;; esac; }
if [ -z "$qemu" ] || [ "$(uname -m)" != x86_64 ]; then
	echo "other processors: no qemu-x86_64, not tried"
elif ! $qemu -cpu Nehalem ./n2d --version >/dev/null 2>&1; then
	echo "other processors: this build does not run under qemu, not tried"
else
	on Nehalem scalar "$(both avx2) $(both avx512)"
	[ -z "$(both avx2)" ] || on Haswell-v4 avx2 "$(both avx512)"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
