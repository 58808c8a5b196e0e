#!/bin/sh
# n2d bpe as a user meets it: streams, files, options, and what is wrong said in one line. In the build directory.
# With N2D_DATA, a directory that holds multi30k/, the merge table of its 10,000 joint merges too.
set -u
. "${srcdir:-.}/tests/program.sh"
golden=${srcdir:-.}/tests/golden/bpe/edge

same() { cmp -s "$1" "$2" && good || bad "$what: differs from $2"; }

# run CODE INPUT ARGUMENTS...: the exit code of n2d bpe; 0 is silent, 2 is one line.
run() {
	want=$1 in=$2
	shift 2
	what="n2d bpe $*"
	./n2d bpe "$@" <"$in" >"$scratch/out" 2>"$scratch/err"
	code=$?
	lines=$(wc -l <"$scratch/err")
	[ $code = "$want" ] && [ "$lines" = $((want > 0)) ] && good || bad "$what: exit code $code, should be $want; $lines lines of error"
}

run 0 "$golden.txt" apply -c "$golden.codes"
same "$scratch/out" "$golden.bpe"
run 0 /dev/null apply --codes "$golden.codes" --vocabulary "$golden.vocab" --vocabulary-threshold 3 -i "$golden.txt" -o "$scratch/o"
same "$scratch/o" "$golden.limited"
run 0 "$golden.txt" apply --glossaries low er '\.' -c "$golden.codes"
same "$scratch/out" "$golden.kept"
run 0 "$golden.txt" apply -c "$golden.codes" --dropout 0.5 --seed 3
cp "$scratch/out" "$scratch/dropped"
run 0 "$scratch/dropped" restore
sed 's/\([^ ]\)  *\([^ ]\)/\1 \2/g; s/\([^ ]\)  *\([^ ]\)/\1 \2/g' "$golden.txt" >"$scratch/single" # spaces between words are one
same "$scratch/out" "$scratch/single"
run 0 "$golden.txt" apply -c "$golden.codes" --dropout 0.5 --seed 3
same "$scratch/out" "$scratch/dropped"
run 0 "$golden.txt" apply -c "$golden.codes" --dropout 0.5 --seed 4
cmp -s "$scratch/out" "$scratch/dropped" && bad "$what: --seed changes nothing" || good
run 0 "$golden.txt" apply -c "$golden.codes" -m 3 -s '||'
grep -q '@@ ' "$scratch/out" || ! grep -q '|| ' "$scratch/out" && bad "$what: not divided by '|| '" || good

# Learning: from several files, with fewer merges than asked for, from words and counts.
head -n 5 "$golden.txt" >"$scratch/a"
tail -n +6 "$golden.txt" >"$scratch/b"
./n2d bpe learn -s 120 -i "$scratch/a" -i "$scratch/b" -o "$scratch/o" 2>"$scratch/err"
what="n2d bpe learn -i a -i b"
same "$scratch/o" "$golden.codes"
err '^n2d bpe learn: 47 merges: no other pair comes 2 times or more$'
run 0 "$golden.txt" learn --symbols 9
head -n 10 "$golden.codes" >"$scratch/ten"
same "$scratch/out" "$scratch/ten"
printf 'aab 3\nabc 2\n' >"$scratch/words"
run 0 "$scratch/words" learn --dict-input -s 1
printf '#version: 0.2\na b</w>\n' >"$scratch/want" # aa, ab</w>: three each
same "$scratch/out" "$scratch/want"
printf 'aab aab ab\n' >"$scratch/text"
run 0 "$scratch/text" learn -t -s 3 # a within, b</w> at the end: one merge is left
same "$scratch/out" "$scratch/want"
./n2d bpe learn </dev/null >"$scratch/out" 2>"$scratch/err"
[ "$? $(cat "$scratch/out")" = '0 #version: 0.2' ] && good || bad 'n2d bpe learn of nothing'
cp "$scratch/out" "$scratch/none.codes"
run 0 "$golden.txt" apply -c "$scratch/none.codes"
rm "$scratch/none.codes"
if command -v gzip >/dev/null && ! ./n2d info | grep -q '^  zlib *without'; then
	gzip -c "$golden.txt" >"$scratch/t.gz"
	run 0 "$scratch/t.gz" apply -c "$golden.codes"
	same "$scratch/out" "$golden.bpe"
fi

# What is wrong: where, and that no file is left.
printf 'good\nb\303\303d\n' >"$scratch/bad"
for command in learn "apply -c $golden.codes"; do
	run 2 /dev/null $command -i "$scratch/bad" -o "$scratch/none"
	err 'bad:2: byte 2 of the line \(0xc3\) is no UTF-8'
done
ls "$scratch"/none* >/dev/null 2>&1 && bad 'a failing command leaves files' || good
run 2 "$scratch/bad" apply -c "$golden.bpe"
err "edge.bpe:1: expected '#version: 0.2'"
run 2 /dev/null apply -c "$scratch/nothing"
err "cannot read '.*nothing': No such file"
run 2 /dev/null learn -i "$scratch"
err 'Is a directory'
run 2 /dev/null apply -c "$golden.codes" -i "$golden.txt" -o "$scratch/no/file"
err "cannot write '.*no/file'"
for wrong in '' train 'learn -c x' 'learn --symbols=x' 'learn --min-frequency 0' 'learn extra' apply 'apply -c' \
	"apply -c $golden.codes --dropout 1.5" "apply -c $golden.codes --dropout nan" "apply -c $golden.codes --vocabulary-threshold 3" \
	"apply -c $golden.codes --separator=" "apply -c $golden.codes -i a -i b" 'restore --separator=' 'restore --frob'; do
	run 2 /dev/null $wrong
	err '^n2d bpe'
done
run 0 /dev/null --help
run 0 /dev/null learn --help
if [ -w /dev/full ]; then
	what="n2d bpe restore, its output full"
	yes 'a line that goes on and on' | timeout 20 ./n2d bpe restore >/dev/full 2>"$scratch/err"
	[ $? = 1 ] && good || bad "$what: it reads on"
	./n2d bpe apply -c "$golden.codes" <"$golden.txt" >/dev/full 2>"$scratch/err"
	[ $? = 1 ] && good || bad 'apply to a full disk'
fi

# Words that never come again are not kept for ever, and forgetting changes nothing. Sanitizers do not bear the limit.
limit=:
(ulimit -v 150000 && ./n2d --version) >"$scratch/out" 2>&1 && limit='ulimit -v 150000'
seq 1 3000000 >"$scratch/in"
($limit && ./n2d bpe apply -c "$golden.codes" -i "$scratch/in") 2>"$scratch/err" | ./n2d bpe restore | cmp - "$scratch/in" >"$scratch/out" 2>&1 &&
	good || bad 'apply to three million words'

if [ -d "${N2D_DATA:-/nowhere}/multi30k" ]; then
	sum=$(./n2d bpe learn -i "$N2D_DATA/multi30k/train.en" -i "$N2D_DATA/multi30k/train.de" | sha256sum)
	[ "${sum%% *}" = 5b545f318e49f24367c7399019c9aeb5e3720b6379a08f887c2792af71c37f2a ] && good || bad "Multi30k: sha256 $sum"
else
	echo 'N2D_DATA is not set, or has no multi30k/: not checked'
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
