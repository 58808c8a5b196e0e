#!/bin/sh
# n2d train as a user meets it: texts with unusual lines, what it says at its end, its BLEU, being killed while it saves, a full disk. And lines that
# are no sentences.
# In the build directory.
set -u
. "${srcdir:-.}/tests/program.sh"
mounted=
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$scratch"' EXIT
needs_model_files

# train CODE ARGUMENTS...: a small model; its exit code.
train() {
	want=$1
	shift
	what="n2d train $*"
	./n2d train --threads 1 --isa scalar "$@" 2>"$scratch/err"
	code=$?
	[ $code = "$want" ] && good || bad "$what: exit code $code, should be $want"
}
small="--preset tiny --layers 1 --d-model 64 --d-ff 64 --heads 2"

# Pairs with empty sides, of one word, of many; a batch may then be padding but for one token a sentence.
printf '\na\n\na b c\nb\n' >"$scratch/s"
printf '\n\na\nc b a\nb\n' >"$scratch/t"
train 0 --src "$scratch/s" --trg "$scratch/t" --valid-src "$scratch/s" --valid-trg "$scratch/t" -o "$scratch/edge" $small --max-steps 6 \
	--batch-tokens 8 --log-every 1
err '^finished after step 6, .* in steps, [1-9][0-9]* MiB of memory at most; lowest validation loss [0-9]'
grep -qiE 'nan|inf' "$scratch/edge/log.csv" "$scratch/edge/valid.csv" && bad "$what: numbers that are none" || good
# Going on with fewer batches an epoch than were already taken of it: a new epoch, and no step on nothing.
seq 1 60 | sed 's/.*/a b c/' >"$scratch/many"
train 0 --src "$scratch/many" --trg "$scratch/many" -o "$scratch/fewer" $small --max-steps 10 --batch-tokens 8 --log-every 1
train 0 --resume -o "$scratch/fewer" --max-steps 13 --batch-tokens 400 --log-every 1
err '^goes on from step 10 of '
grep -qiE 'nan|inf' "$scratch/fewer/log.csv" && bad "$what: steps on nothing" || good
tail -n 1 "$scratch/fewer/log.csv" | grep -q '^1,13,' && good || bad "$what: not 13 steps"

# Ended and resumed: the model and valid.csv of one that ran through, but for seconds; log.csv has a row more, of the steps before the end.
for run in "through 12" "again 6" "again 12 --resume"; do
	set -- $run
	[ $# = 3 ] && task= || task="--task reverse --lines 40 $small --batch-tokens 100 --log-every 4 --valid-every 5"
	train 0 -o "$scratch/$1" --max-steps "$2" ${3-} $task -q
done
for run in through again; do cut -d, -f1-9 "$scratch/$run/valid.csv" >"$scratch/$run/values"; done
what='ended and resumed'
cmp -s "$scratch/through/step-00000012.safetensors" "$scratch/again/step-00000012.safetensors" && good || bad "$what: another model"
cmp -s "$scratch/through/values" "$scratch/again/values" && good || bad "$what: other values in valid.csv"
[ "$(sed 1d "$scratch/again/log.csv" | cut -d, -f2 | tr '\n' ' ')" = '4 6 8 12 ' ] && good || bad "$what: not the rows 4, 6, 8 and 12 in log.csv"

# An end within an epoch is told not to have been validated.
train 0 --task reverse --lines 400 -o "$scratch/within" $small --max-steps 1 --batch-tokens 200
err '^finished after step 1, .*; this step was not validated'

# Steps that are not finite end it: exit code 1, the step, and the checkpoint before stays what it was. A profile is of the steps alone.
train 0 --task reverse --lines 40 -o "$scratch/diverge" $small --max-steps 4 --save-every 2 --profile >"$scratch/out"
out '^profile of 4 steps together$'
out '^encoder self-attention +gemm'
grep -qE '^[^*].*cache|attention_step' "$scratch/out" && bad "$what: the profile has translations of the validation" || good
cksum "$scratch"/diverge/step-* >"$scratch/before"
train 1 --resume -o "$scratch/diverge" --max-steps 9 --rate 9e29 --schedule constant --save-every 1000
err '^n2d train: step [5-9]: the (validation loss|loss|norm of the gradients) is -?(nan|inf)'
err 'the checkpoints in .*diverge stay as they were; --resume goes on from step 4'
cksum "$scratch"/diverge/step-* | cmp -s - "$scratch/before" && good || bad "$what: the checkpoints changed"

# Nor does a step that is finite itself, and leaves a model that is not: the good one before would go for it.
train 1 --resume -o "$scratch/diverge" --max-steps 9 --rate 9e29 --schedule constant --save-every 1 --keep 1 --valid-every 1000
err '^n2d train: step 5: (with the weights it leaves the loss of the next batch is|.* add up to|.*norm of the next batch.s gradients is) -?(nan|inf)'
err 'the checkpoints in .*diverge stay as they were; --resume goes on from step 4'
cksum "$scratch"/diverge/step-* | cmp -s - "$scratch/before" && good || bad "$what: the checkpoints changed"
# A training that has come to its end says so.
train 0 --resume -o "$scratch/diverge"
err '^nothing left to do: step 4 was the last by its --max-steps'
grep -q 'not validated' "$scratch/err" && bad "$what: nothing was left to validate" || good

# What a checkpoint could not hold is refused before the first step.
printf 'a\000b\nc d\n' >"$scratch/zero"
train 2 --src "$scratch/zero" --trg "$scratch/zero" -o "$scratch/none" $small --max-steps 1
err 'zero:1: a zero byte'
printf '<pad> 0\n<s> 0\n</s> 0\n<unk> 0\na 1\nb\0000 1\n' >"$scratch/zero.vocab"
train 2 --src "$scratch/s" --trg "$scratch/t" --vocab "$scratch/zero.vocab" -o "$scratch/none" $small --max-steps 1
err 'zero.vocab:6: a zero byte'
./n2d vocab "$scratch/s" "$scratch/t" -o "$scratch/st.vocab" >/dev/null 2>"$scratch/err" || bad vocab
train 2 --src "$scratch/s" --trg "$scratch/s" --valid-src "$scratch/zero" --valid-trg "$scratch/zero" --vocab "$scratch/st.vocab" \
	-o "$scratch/none" $small --max-steps 1
err 'zero:1: a zero byte'
latin=$(printf 'caf\351.txt')
if cp "$scratch/s" "$scratch/$latin" 2>/dev/null; then
	train 2 --src "$scratch/$latin" --trg "$scratch/t" -o "$scratch/none" $small --max-steps 1
	err 'not UTF-8'
fi
# Longer pairs are left out, and counted.
printf 'a b c d e f g\na b\nc d\n' >"$scratch/longer"
train 0 --src "$scratch/longer" --trg "$scratch/longer" -o "$scratch/short" $small --max-tokens 3 --max-steps 1
err 'training: 1 pair longer than 3 tokens left out'
err '^2 pairs, .* words; 1 batch an epoch,'
twice=$(./n2d train --help | sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p' | sort | uniq -d)
[ -z "$twice" ] && good || bad "n2d train --help: two options of one name: $twice"

# So are those of the validation, with -q too.
printf 'a b\na b c d\nb\n' >"$scratch/valid3"
train 0 --src "$scratch/many" --trg "$scratch/many" --valid-src "$scratch/valid3" --valid-trg "$scratch/valid3" -o "$scratch/short-valid" $small \
	--max-tokens 3 --max-steps 1 --valid-every 1 -q
err '^n2d train: validation: 1 pair longer than 3 tokens left out'
# Patience waits for something that comes, and ends with a row for the last step.
train 2 --src "$scratch/many" --trg "$scratch/many" -o "$scratch/none" $small --patience 1
err 'validations: --valid-src and --valid-trg must be given'
train 0 --src "$scratch/s" --trg "$scratch/t" --valid-src "$scratch/s" --valid-trg "$scratch/t" -o "$scratch/patient" $small --rate 1 --schedule constant \
	--patience 1 --max-epochs none --valid-every 1 --log-every 1000 --batch-tokens 8 -q
rows=$(awk -F, 'END {print $2}' "$scratch/patient/log.csv") last=$(awk -F, 'END {print $2}' "$scratch/patient/valid.csv")
[ "$rows" = "$last" ] && good || bad "patience: validated at step $last, the last row is of step $rows"
train 2 --task copy --src "$scratch/s" -o "$scratch/none" $small
err '^n2d train: --task copy has its own text'
# A text that is read twice is a file.
train 2 --src - --trg "$scratch/t" -o "$scratch/none" $small --max-steps 1
err '^n2d train: -: cannot be read twice.*--vocab'

# What is given to --resume counts, the rest stays as it was.
more="--resume -o $scratch/edge --batch-tokens 8 --log-every 1"
train 2 $more --src "$scratch/s"
err "and --trg, or --task, must be given"
train 2 $more --trg "$scratch/no-such" --src "$scratch/s"
err 'no-such'
train 2 $more --valid-src "$scratch/no-such" --valid-trg "$scratch/t"
err 'no-such'
train 2 $more --vocab "$scratch/s"
err 'the vocabulary of the model in .*: --vocab cannot be given'
train 0 $more --src "$scratch/many" --trg "$scratch/many" --max-steps 7 --valid-every 7
err '^60 pairs'
grep -q '^1,7,' "$scratch/edge/valid.csv" && good || bad "$what: the validation is gone"
train 0 $more --max-steps 8
err '^60 pairs'
train 0 --resume -o "$scratch/fewer" --valid-src "$scratch/s" --valid-trg "$scratch/t" --max-steps 14 --valid-every 1
grep -q '^1,14,' "$scratch/fewer/valid.csv" && good || bad "$what: no validation"
# --init brings its words, and refuses others.
first=$scratch/edge/step-00000008.safetensors
train 0 --init "$first" --src "$scratch/many" --trg "$scratch/many" -o "$scratch/init" $small --max-steps 1 -q
printf '<pad> 0\n<s> 0\n</s> 0\n<unk> 0\nb 1\na 1\nc 1\n' >"$scratch/other"
train 2 --init "$first" --vocab "$scratch/other" --src "$scratch/many" --trg "$scratch/many" -o "$scratch/none" $small --max-steps 1
err "step-00000008.safetensors: its word [0-9] is '.', and '.' in --vocab"
# A source with words of its own: its embedding, its ids, its tokens in pictures; the target's are others.
printf 'x y z w\nz y\nw\n' >"$scratch/own"
printf 'A B\nB\nC A\n' >"$scratch/upper"
./n2d vocab "$scratch/own" -o "$scratch/own.vocab" >/dev/null 2>"$scratch/err" && ./n2d vocab "$scratch/upper" -o "$scratch/upper.vocab" >/dev/null 2>"$scratch/err" ||
	bad 'vocab'
own="--src $scratch/own --trg $scratch/upper --src-vocab $scratch/own.vocab -o $scratch/separate $small"
train 2 $own --max-steps 2
err 'tied must be output or none'
train 0 $own --tied output --max-steps 2
err '^3 pairs, 10 \+ 8 tokens, 15 words' # 8 and, counted from the targets, 7
train 0 --resume -o "$scratch/separate" --max-steps 3 -q
./n2d average --last 2 "$scratch/separate" -o "$scratch/separate.mean" 2>"$scratch/err" || bad 'average'
./n2d translate -q -m "$scratch/separate.mean" -i "$scratch/own" >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && [ "$(wc -l <"$scratch/out")" = 3 ] && grep -q '[ABC]' "$scratch/out" && ! grep -q '[w-z]' "$scratch/out" && good || bad 'translate: no words of the target'
./n2d attention -m "$scratch/separate.mean" 'w z' 'C B' --csv "$scratch/out" 2>"$scratch/err" || bad 'attention'
[ "$(awk -F, '$2 == "cross" && $6 == 1 && $4 == 1 {print $7 $8}' "$scratch/out" | sort -u | tr '\n' ' ')" = '"<s>""w" "B""w" "C""w" ' ] && good || bad 'attention: tokens'
./n2d score -m "$scratch/separate.mean" --src "$scratch/own" --trg "$scratch/upper" >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && [ "$(wc -l <"$scratch/out")" = 3 ] && good || bad 'score'
# States whose models were never written, however high their steps, cost nobody a checkpoint; nor do files half written stay.
cp "$scratch/edge/step-00000008.state.safetensors" "$scratch/edge/step-00000100.state.safetensors"
cp "$scratch/edge/step-00000008.state.safetensors" "$scratch/edge/step-00000200.state.safetensors"
: >"$scratch/edge/step-00000200.safetensors.n2d-tmp"
train 0 $more --save-every 1 --max-steps 10 -q
ls "$scratch/edge" >"$scratch/out"
[ "$(grep -c '\.n2d-tmp$' "$scratch/out") $(grep '\.state\.' "$scratch/out" | tr '\n' ' ')" = '0 step-00000009.state.safetensors step-00000010.state.safetensors ' ] &&
	good || bad "orphaned states: $(tr '\n' ' ' <"$scratch/out")"
train 0 $more --max-steps 11 -q
# A damaged one is no surprise, and the one before it is there.
printf x >>"$scratch/edge/step-00000011.state.safetensors"
train 2 $more --max-steps 12 -q
err 'step-00000011.state.safetensors.*goes on from step 10'
rm "$scratch/edge/step-00000011.state.safetensors"
# Nor does a renamed one pass for what it is not.
cp -R "$scratch/edge" "$scratch/renamed"
for end in state.safetensors safetensors; do mv "$scratch/renamed/step-00000010.$end" "$scratch/renamed/step-00000090.$end"; done
train 2 --resume -o "$scratch/renamed" --batch-tokens 8 --max-steps 100 -q
err 'step-00000090.state.safetensors: the state of step 10, while its name says 90'
cp -R "$scratch/edge" "$scratch/later"
mv "$scratch/later/step-00000011.safetensors" "$scratch/later/step-00000020.safetensors"
later="--resume -o $scratch/later --batch-tokens 8 --keep 1 --save-every 1 -q"
train 0 $later --max-steps 11
train 0 $later --max-steps 12 # the model that has no state is not the one that was kept
[ -s "$scratch/later/step-00000020.safetensors" ] && good || bad "a model of a later step is gone"
train 0 $more --max-steps 11 -q

# One training a directory.
./n2d train --threads 1 --isa scalar --src "$scratch/many" --trg "$scratch/many" -o "$scratch/one" $small --max-steps 1000000 --max-epochs none 2>"$scratch/first" &
first=$!
n=0
while [ ! -f "$scratch/one/log.csv" ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
train 2 --src "$scratch/many" --trg "$scratch/many" -o "$scratch/one" $small --max-steps 1 --seed 2
err 'one: (another process works in this directory|there are checkpoints already)'
train 2 --resume -o "$scratch/one" --max-steps 1

# A signal ends it after the step: what it has is kept, and a script can tell it from an end. Twice in a row is once.
n=0
until [ "$(wc -l <"$scratch/one/log.csv")" -gt 1 ] || [ $n -ge 100 ]; do sleep 0.1; n=$((n + 1)); done
# The terminal's keys are not meant for a job in the background, whose INT the shell ignores.
kill -INT $first
rows=$(wc -l <"$scratch/one/log.csv")
n=0
until [ "$(wc -l <"$scratch/one/log.csv")" -gt $((rows + 1)) ] || [ $n -ge 600 ]; do sleep 0.1; n=$((n + 1)); done
kill -0 $first 2>/dev/null && [ $n -lt 600 ] && ! grep -q 'ending after' "$scratch/first" && good || bad 'an ignored SIGINT ends a training'
kill -TERM $first
kill -TERM $first
wait $first
code=$?
step=$(tr '\r' '\n' <"$scratch/first" | sed -n 's/^stopped after step \([0-9]*\),.*/\1/p')
[ $code = 143 ] && [ -s "$scratch/one/$(printf 'step-%08d.state.safetensors' "${step:-0}")" ] && good ||
	bad "SIGTERM: exit code $code, and no state of the step it stopped after, '$step'"
[ "$(grep -c 'ending after this step' "$scratch/first")" = 1 ] && good || bad 'SIGTERM: not acknowledged once'

if env --default-signal=INT true 2>/dev/null; then
	rm -rf "$scratch/int"
	env --default-signal=INT ./n2d train --threads 1 --isa scalar --src "$scratch/many" --trg "$scratch/many" -o "$scratch/int" $small --max-steps 1000000 --max-epochs none 2>"$scratch/err" &
	n=0
	until { [ -f "$scratch/int/log.csv" ] && [ "$(wc -l <"$scratch/int/log.csv")" -gt 1 ]; } || [ $n -ge 100 ]; do sleep 0.1; n=$((n + 1)); done
	kill -INT $!
	wait $!
	[ $? = 130 ] && ls "$scratch/int"/step-*.state.safetensors >"$scratch/out" && good || bad 'SIGINT: no exit code 130, or nothing kept'
fi

# A signal between setting up and the first step, where a full pipe for its messages holds it: it makes none, and tells what there is.
early() {
	what="n2d train $*, stopped before a step"
	exec 3<>"$scratch/pipe"
	dd if=/dev/zero of="$scratch/pipe" bs=4096 oflag=nonblock 2>/dev/null
	./n2d train --threads 1 --isa scalar "$@" 2>"$scratch/pipe" 3>&- &
	train=$!
	n=0
	until [ $((0x$(sed -n 's/^SigCgt:.*\(....\)$/\1/p' /proc/$train/status) & 0x4000)) != 0 ] || [ $n -ge 600 ]; do sleep 0.1; n=$((n + 1)); done
	kill -TERM $train
	tr -d '\0' <"$scratch/pipe" >"$scratch/err" 3>&- &
	exec 3>&-
	wait $train
	code=$?
	wait $!
	[ $code = 143 ] && good || bad "$what: exit code $code, should be 143"
}
if grep -q '^SigCgt' /proc/self/status 2>/dev/null && mkfifo "$scratch/pipe" 2>/dev/null; then
	early --task copy --lines 40 -o "$scratch/early" $small --max-steps 2
	err '^stopped after step 0, '
	err '^there is nothing to go on from: the same command starts anew$'
	train 0 --task copy --lines 40 -o "$scratch/early" $small --max-steps 2
	early --resume -o "$scratch/early" --max-steps 4
	err '^stopped after step 2, .* at step 2$'
	err '^go on with: n2d train --resume -o '
fi

printf '\nb\na b c a b c\n' >"$scratch/in"
./n2d translate -q -m "$scratch/edge/step-00000006.safetensors" <"$scratch/in" >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && [ "$(wc -l <"$scratch/out")" = 3 ] && [ -z "$(head -n 1 "$scratch/out")" ] && good || bad "translate: not three lines, the first empty"
./n2d score -m "$scratch/edge/step-00000006.safetensors" --src "$scratch/s" --trg "$scratch/t" >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && [ "$(grep -cE '^-[0-9]' "$scratch/out")" = 5 ] && good || bad "score: not five log-probabilities"
# Words that the vocabulary does not have are counted, and only where there are any.
printf 'a zebra\nb\n' >"$scratch/zoo"
./n2d translate -m "$scratch/edge/step-00000006.safetensors" -i "$scratch/zoo" >"$scratch/out" 2>"$scratch/err"
err '^2 lines in .* a second$'
err '^unknown words: 1, in 1 of 2 lines$'
printf 'a\nzebra yak\nb\ngnu\n' | ./n2d translate --interactive -m "$scratch/edge/step-00000006.safetensors" >"$scratch/out" 2>"$scratch/err"
[ "$(cat "$scratch/err")" = 'unknown words: 3, in 2 of 4 lines' ] && good || bad 'translate --interactive: unknown words not told, once'
printf 'a\n' | ./n2d translate -m "$scratch/edge/step-00000006.safetensors" >"$scratch/out" 2>"$scratch/err"
err '^1 line in .* a second$'
grep -q unknown "$scratch/err" && bad 'translate: unknown words where there are none' || good
printf 'b yak\nc gnu gnu\n' >"$scratch/farm"
./n2d score -m "$scratch/edge/step-00000006.safetensors" --src "$scratch/zoo" --trg "$scratch/farm" >"$scratch/out" 2>"$scratch/err"
err '^unknown words: 1 \+ 3, in 2 of 2 pairs$'
./n2d attention -m "$scratch/edge/step-00000006.safetensors" --csv "$scratch/out" 'a zebra' 'b yak gnu' 2>"$scratch/err"
[ "$(cat "$scratch/err")" = 'unknown words, shown as <unk>: 3' ] && good || bad 'attention: unknown words not told'
# Gradients change nothing of what is told.
train 0 --task copy --lines 200 -o "$scratch/right" $small --max-steps 10 --schedule constant --rate 0.01 --warmup 1 -q
./n2d make-data copy --lines 20 -o "$scratch/right.text"
for grad in '' "--grad $scratch/gradients"; do
	./n2d score -m "$scratch/right/step-00000010.safetensors" --src "$scratch/right.text.src" --trg "$scratch/right.text.trg" $grad >"$scratch/out" 2>>"$scratch/summary"
done
[ "$(sort "$scratch/summary" | uniq -c | grep -c '2 20 pairs, .*accuracy [1-9]')" = 1 ] && good || bad 'score: with gradients not the summary without'

# A learned position table ends before the words a translation may have.
train 0 --src "$scratch/s" --trg "$scratch/t" -o "$scratch/learned" $small --positions learned --max-length 9 --max-steps 1 --batch-tokens 32
./n2d translate -q -m "$scratch/learned/step-00000001.safetensors" --max-len 50 <"$scratch/in" >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && [ "$(awk '{ if (NF > n) n = NF } END { print NR, (n <= 8) }' "$scratch/out")" = "3 1" ] && good || bad "translate: learned positions"

# A line of more tokens than a sentence has: its file and number.
model=$scratch/edge/step-00000006.safetensors
printf 'a\nb a c\n' >"$scratch/3"
printf 'a\nb\n' >"$scratch/1"
# refused FILE OPTION COMMAND...: exit code 2 for line 2 of FILE when it may have 2 tokens, 0 when 3.
refused() {
	file=$scratch/$1 option=$2
	shift 2
	what="$* $option 2"
	"$@" "$option" 2 >"$scratch/out" 2>"$scratch/err"
	code=$?
	[ $code = 2 ] && good || bad "$what: exit code $code, should be 2"
	err "^n2d [a-z]*: $file:2: (3 tokens: )?expected at most 2( tokens)? \($option\)\$"
	"$@" "$option" 3 >"$scratch/out" 2>"$scratch/err" && good || bad "$* $option 3: refused"
}
refused 3 --max-source ./n2d translate -q -m "$model" -i "$scratch/3"
# What came before it is translated all the same.
for line in 'b\377' 'b a c'; do
	printf 'a\nb\n\n'"$line"'\nb\n' | ./n2d translate -q -m "$model" --max-source 2 >"$scratch/out" 2>"$scratch/err"
	[ $? = 2 ] && [ "$(wc -l <"$scratch/out")" = 3 ] && good || bad "translate, line 4 is '$line': not three lines"
	err 'standard input.*:4: '
done
# A line that ends in "\r\n" has the words of one that does not.
printf 'a\nb a\n\n' >"$scratch/unix"
sed 's/$/\r/' "$scratch/unix" >"$scratch/dos"
for f in unix dos; do
	./n2d translate -q -m "$model" -i "$scratch/$f" >"$scratch/$f.out" 2>"$scratch/err" || bad "translate $f"
	./n2d vocab "$scratch/$f" -o "$scratch/$f.vocab" >/dev/null 2>"$scratch/err" || bad "vocab $f"
done
cmp -s "$scratch/unix.out" "$scratch/dos.out" && cmp -s "$scratch/unix.vocab" "$scratch/dos.vocab" && good || bad 'lines that end in "\r\n"'
# Ids are ids for all programs, however often each comes; no warmup is no rate of 0, and no layers are no model.
printf '3 3 1\n3 2\n0 3\n' >"$scratch/ids"
train 0 --src "$scratch/ids" --trg "$scratch/ids" --ids $small --max-steps 2 --schedule inverse-sqrt --rate 0.01 --warmup 0 --log-every 1 -o "$scratch/ids.run"
for ids in '' --ids; do
	./n2d score -m "$scratch/ids.run/step-00000002.safetensors" --src "$scratch/ids" --trg "$scratch/ids" $ids >"$scratch/ids$ids.out" 2>"$scratch/err"
done
cmp -s "$scratch/ids.out" "$scratch/ids--ids.out" && good || bad "--ids: two programs read ids differently"
awk -F, 'NR > 1 && $7 <= 0 {bad = 1} END {exit bad}' "$scratch/ids.run/log.csv" && good || bad "warmup 0: a rate of 0"
train 2 --task copy $small --layers 0 -o "$scratch/none"
# A full disk is told once.
if [ -w /dev/full ]; then
	./n2d translate -q -m "$model" -i "$scratch/unix" >/dev/full 2>"$scratch/err"
	[ $? = 1 ] && [ "$(grep -c 'standard output: No space' "$scratch/err")" = 1 ] && good || bad "translate: a full disk"
fi
refused 3 --max-length ./n2d score -m "$model" --src "$scratch/3" --trg "$scratch/1"
refused 3 --max-length ./n2d score -m "$model" --src "$scratch/1" --trg "$scratch/3"

# BLEU at a validation: of what the checkpoint of the same step translates the first pairs to, greedily, pieces put together.
for split in train valid; do
	./n2d make-data copy --vocab 12 --min-length 2 --max-length 6 --lines 200 --split $split -o "$scratch/$split"
	for side in src trg; do sed -i 's/[a-z]/&&o/g' "$scratch/$split.$side"; done
done
sed -i '1~2s/[^ ]*$/x&x/' "$scratch/valid.trg" # a piece that no vocabulary has is part of its word
./n2d bpe learn -s 6 -i "$scratch/train.src" -o "$scratch/codes" 2>"$scratch/err" || bad 'bpe learn'
gzip -k "$scratch/codes"
train 0 --src "$scratch/train.src" --trg "$scratch/train.trg" --valid-src "$scratch/valid.src" --valid-trg "$scratch/valid.trg" \
	--bpe "$scratch/codes.gz" -o "$scratch/bleu" $small --batch-tokens 400 --schedule inverse-sqrt --rate 0.01 --warmup 20 --max-steps 80 \
	--valid-every 40 --save-every 40 --valid-bleu 30 -q
for side in src trg; do head -n 30 "$scratch/valid.$side" >"$scratch/30.$side"; done
for step in 40 80; do
	./n2d translate -q -m "$scratch/bleu/step-000000$step.safetensors" --beam 1 -i "$scratch/30.src" >"$scratch/out" 2>"$scratch/err"
	want=$(./n2d bleu "$scratch/30.trg" -i "$scratch/out" -tok none -b -w 2 2>"$scratch/err")
	[ "$(awk -F, -v step=$step '$2 == step {print $8}' "$scratch/bleu/valid.csv")" = "$want" ] && good || bad "BLEU at step $step is not $want"
done
[ "$want" != 0.00 ] && [ "$want" != 100.00 ] && good || bad "BLEU of $want tells nothing"

# Killed at random moments of a training that does little but save, every other time as soon as a file is half written: the newest checkpoint always loads,
# and the training goes on.
dir=$scratch/killed
long="-o $dir --save-every 1 --keep 2"
newest() { ls "$dir" | sed -n 's/^step-0*\([0-9]*\)\.safetensors$/\1/p' | sort -n | tail -n 1; }
train 0 --task copy --lines 50 --batch-tokens 40 $small --d-model 256 $long --max-steps 1 -q
torn=0 round=0
for delay in $(awk 'BEGIN {srand(7); for (i = 0; i < 20; i++) printf "%.3f ", 0.12 * rand()}'); do
	from=$(newest)
	./n2d train --threads 1 --isa scalar --resume $long --max-steps 1000000 --max-epochs none -q 2>"$scratch/err" &
	while [ "$(newest)" = "$from" ] && kill -0 $! 2>/dev/null; do sleep 0.01; done
	round=$((round + 1)) n=0
	[ $((round % 2)) = 0 ] || sleep "$delay"
	until [ $((round % 2)) = 1 ] || ls "$dir" | grep -q '\.n2d-tmp$' || [ $n -ge 1000 ]; do n=$((n + 1)); done
	kill -9 $! 2>/dev/null || bad "killed after $delay s: it had ended"
	wait $! 2>/dev/null
	ls "$dir" | grep -q '\.n2d-tmp$' && torn=$((torn + 1))
	train 0 --resume $long --max-steps $(($(newest) + 1)) -q
	[ "$(newest)" -gt "$from" ] && good || bad "killed after $delay s: no step after $from"
	./n2d average --last 2 "$dir" -o "$scratch/average" 2>"$scratch/err" && good || bad "killed after $delay s: the models kept do not load"
done
echo "$torn of 20 kills left a file half written"
[ $torn -gt 0 ] && good || bad "no kill came while it saved"

# A full disk ends the training; what was there goes on elsewhere.
disk=$scratch/disk
mkdir "$disk"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=24m none "$disk" 2>/dev/null; then
	mounted=$disk
	train 1 --task copy --lines 50 --batch-tokens 40 $small --d-model 256 -o "$disk/run" --save-every 1 --keep 100 --max-steps 1000 -q
	err "^n2d train: cannot write .$disk/run/step-[0-9]+\.(state\.)?safetensors.: .*[Nn]o space"
	dir=$disk/run
	last=$(newest)
	ls "$dir" | grep -q '\.n2d-tmp$' && bad "a full disk: a file half written" || good
	cp -R "$disk/run" "$scratch/moved"
	train 0 --resume -o "$scratch/moved" --max-steps $((last + 1)) --keep 100 -q
	umount "$disk" && mounted=
else
	echo "full disk: skipped, needs root and mount"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
