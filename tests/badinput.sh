#!/bin/sh
# Every file of every command, replaced by one that cannot be used: exit code 2 and one line that names it. No crash, no hang, no file left.
# In the build directory.
set -u
. "${srcdir:-.}/tests/program.sh"
needs_model_files
in_scratch

printf 'a b c\nb a\n' >s
printf 'c b a\na b\n' >t
"$n2d" bpe learn -s 2 --min-frequency 1 -i s -o codes 2>err || bad 'bpe learn'
"$n2d" vocab s t -o vocab >out 2>err || bad vocab
"$n2d" train -q --src s --trg t -o run --preset tiny --layers 1 --d-model 8 --heads 8 --d-ff 8 --max-steps 1 2>err || bad train
cp run/step-00000001.safetensors model

mkdir directory
: >empty
printf 'a b\nb\303\303a\n' >no-utf8
printf 'a\n' >one-line
head -c 1000000 /dev/zero | tr '\0' a >long-word
yes a | head -n 500000 | tr '\n' ' ' >long-line
printf '<pad> 0\n<s> 0\n</s> 0\n<unk> 0\na 1\n' >small-vocab
head -c 3000 model >cut-model
printf 'junk\n' >junk

# try FILE COMMAND: refused, by name, in one line. (No other program runs here: there are many of these.)
try() {
	timeout 60 "$n2d" $2 <s >out 2>err
	code=$?
	line= more=
	{ read -r line && read -r more; } <err
	case "$code $more $line" in
	"2  n2d "*"$1"*) good ;;
	*) bad "n2d $2: exit code $code, should be 2 and one line with '$1'" ;;
	esac
	if [ -e new ]; then
		bad "n2d $2: leaves a file"
		rm -rf new
	fi
}

# FILES | COMMAND, @ in place of the file. What a command can use as it is has no name here: an empty text is one to translate.
while IFS='|' read -r files command; do
	for file in $files; do
		try "$file" "${command%@*}$file${command#*@}"
	done
done <<'TABLE'
missing directory no-utf8 empty one-line long-line long-word|train -q -o new --preset tiny --max-steps 1 --src @ --trg t
no-utf8 one-line long-line|train -q -o new --preset tiny --max-steps 1 --src s --trg @
missing no-utf8 empty one-line long-line|train -q -o new --preset tiny --max-steps 1 --src s --trg t --valid-src @ --valid-trg t
missing directory no-utf8 empty junk long-line|train -q -o new --preset tiny --max-steps 1 --src s --trg t --bpe @
missing directory no-utf8 empty junk long-line|train -q -o new --preset tiny --max-steps 1 --src s --trg t --vocab @
missing empty junk cut-model|train -q -o new --preset tiny --max-steps 1 --src s --trg t --init @
missing directory empty junk cut-model|translate -m @
missing directory no-utf8 long-line|translate -m model -q -i @
missing no-utf8 empty junk small-vocab|translate -m model --vocab @
missing cut-model|score -m @ --src s --trg t
missing directory no-utf8 empty one-line long-line|score -m model --src @ --trg t
no-utf8 one-line long-line|score -m model --src s --trg @
small-vocab|score -m model --src s --trg t --vocab @
missing directory no-utf8 empty one-line|bleu @ -i s
no-utf8 empty one-line|bleu s -i @
missing directory no-utf8|bpe learn -i @ -o new
missing directory no-utf8|bpe apply -c codes -i @ -o new
missing directory no-utf8 empty junk|bpe apply -c @ -o new
missing directory no-utf8|bpe apply -c codes --vocabulary @ --vocabulary-threshold 1 -o new
missing directory|bpe restore -i @ -o new
missing directory no-utf8 empty|vocab @ -o new
missing directory empty junk cut-model|average -o new @ model
missing cut-model|attention -m @ --csv new a
small-vocab|attention -m model --vocab @ --csv new a
TABLE

# A path that cannot be written is bad input, told before the work: an input that cannot be read is not asked for.
while read -r command; do
	try none/new "$command"
done <<'TABLE'
average -o none/new missing
attention -m missing --csv none/new a
score -m missing --src s --trg t --grad none/new
bpe learn -i missing -o none/new
bpe apply -c missing -i missing -o none/new
bpe restore -i missing -o none/new
vocab missing -o none/new
make-data copy -o none/new --lines 1000000000
train -q --src s --trg t -o none/new --preset tiny --max-steps 1
TABLE

# A line of a million characters is one like any other where its length costs nothing but time in proportion.
for command in 'bleu long-word -i long-word -q' 'bleu long-line -i long-line -q' 'bpe learn -i long-word' 'bpe apply -c codes -i long-word' \
	'bpe restore -i long-line' 'vocab long-line -o v'; do
	timeout 60 "$n2d" $command >out 2>err && good || bad "n2d $command: exit code $?"
done
# What has no end is refused before it fills the memory (whose limit sanitizers do not bear).
limit=:
(ulimit -v 4000000 && "$n2d" --version) >out 2>err && limit='ulimit -v 4000000'
for command in 'train --vocab vocab --src /dev/zero --trg t -o new' 'vocab /dev/zero -o new' 'bpe learn -i /dev/zero' 'bpe apply -c codes -i /dev/zero' \
	'bleu s -i /dev/zero' 'translate -q -m model -i /dev/zero'; do
	($limit && timeout 60 "$n2d" $command >out 2>err)
	[ $? = 2 ] && grep -q '^n2d [a-z ]*: /dev/zero:1: the line is too long: expected less than 268435456 bytes$' err && [ ! -e new ] && good ||
		bad "n2d $command"
done

timeout 60 "$n2d" attention -m model --csv new --heat new a >out 2>err
[ $? = 2 ] && grep -q 'two outputs into one file' err && [ ! -e new ] && good || bad 'attention: two outputs into one file'
# What a step costs is a formula, not a walk over the pairs.
timeout 20 "$n2d" params --preset tiny --batch 1 --vocab 100 --src-length 1000000000 --trg-length 1000000000 >out 2>err
[ $? = 0 ] && grep -q '^  forward  *[1-9][0-9.]* GFLOP$' out && good || bad 'params of a long sentence: no FLOPs, or no end'
timeout 20 "$n2d" params --vocab 100 --layers 10000 >out 2>err # 264 GB
[ $? = 0 ] && grep -q '^all  *73,564,211,200 ' out && good || bad 'params of 10,000 layers: no number, or no end'

# Weights of 60,000 by 60,000 tokens, 24 times, fit no memory: said before the translation, which would take minutes.
timeout 60 "$n2d" attention -m model --csv new "$(head -c 120000 long-line)" >out 2>err
[ $? = 1 ] && grep -q '^n2d attention: no memory for' err && [ ! -e new ] && good || bad 'attention of a long sentence'
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
