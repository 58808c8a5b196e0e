#!/bin/sh
# What surrounds a training and its models, broken: states, checkpoints, standard streams, signals. An error that names what is wrong, and nothing lost.
# In the build directory.
set -u
. "${srcdir:-.}/tests/program.sh"
needs_model_files
in_scratch
small="-q --preset tiny --layers 1 --d-model 8 --heads 2 --d-ff 8"
: >out

# train CODE ARGUMENTS...
train() {
	want=$1
	shift
	what="n2d train $*"
	timeout -k 5 60 "$n2d" train "$@" >out 2>err
	code=$?
	[ $code = "$want" ] && good || bad "$what: exit code $code, should be $want"
}
# edited FILE OTHER SCRIPT: a safetensors file with other metadata, of the same length, without its checksum.
edited() { LC_ALL=C sed 's/"n2d\./"x2d./g; '"$3" "$1" >"$2"; }

printf 'a b c\nb a\n' >s
printf 'c b a\na b\n' >t
train 0 $small --src s --trg t -o run --max-steps 1
model=run/step-00000001.safetensors
state=run/step-00000001.state.safetensors

# A state that does not say what was trained on.
cp -R run nowhere
edited $state nowhere/step-00000001.state.safetensors 's/"src"/"xyz"/'
train 2 -q --resume -o nowhere --max-steps 2
err "^n2d train: nowhere/step-00000001.state.safetensors: names neither 'task' nor 'src' and 'trg'"
train 0 -q --resume -o nowhere --max-steps 2 --src s --trg t

# Model and state of different steps; a state that does not tell its model, as those of older versions.
cp -R run mixed
train 0 -q --resume -o mixed --max-steps 2
cp mixed/step-00000002.state.safetensors state2
edited $state mixed/step-00000002.state.safetensors ''
train 2 -q --resume -o mixed --max-steps 3
err '^n2d train: mixed/step-00000002.state.safetensors: the state of another model than mixed/step-00000002.safetensors \(without that file .* from step 1\)'
edited $state mixed/step-00000002.state.safetensors 's/"weights":/"xyzabcd":/'
train 2 -q --resume -o mixed --max-steps 3
err '^n2d train: mixed/step-00000002.state.safetensors: the state of step 1, while its name says 2 \(without'
edited state2 mixed/step-00000002.state.safetensors 's/"weights":/"xyzabcd":/'
train 0 -q --resume -o mixed --max-steps 3

# A sentence that the positions, or a batch, have no room for is told by its line before the training.
yes c | head -n 9 | tr '\n' ' ' >9
printf 'a b c d e f\nb a\n%s\na\n' "$(cat 9)" >long
train 2 $small --src s --trg t --valid-src long --valid-trg long --positions learned --max-length 9 --max-tokens 8 -o new --max-steps 1 --batch-tokens 6
err '^n2d train: long:1: 6 tokens: expected at most 5 \(--batch-tokens less the end; --max-tokens leaves longer ones out\)$'
train 2 $small --src s --trg t --valid-src long --valid-trg long --positions learned --max-length 9 -o new --max-steps 1
err '^n2d train: long:3: 9 tokens: expected at most 8 \(learned positions, --max-length, less the end; --max-tokens leaves longer ones out\)$'
train 2 $small --src long --trg long --positions learned --max-length 9 -o new --max-steps 1
err '^n2d train: long:3: 9 tokens: expected at most 8'
train 0 $small --src s --trg t --valid-src long --valid-trg long --positions learned --max-length 9 --max-tokens 8 -o learned --max-steps 1
printf 'a\n%s\n' "$(cat 9)" >2
run 2 "$n2d" score -m learned/step-00000001.safetensors --src s --trg 2
err "^n2d score: 2:2: 9 tokens: expected at most 8 \\(the model's learned positions"
[ -e new ] && bad 'a training that was refused leaves a directory' || good

# A training that fails: --resume is advised where there is a checkpoint.
train 1 ${small#-q} --src s --trg t --rate 1e29 --schedule constant --warmup 0 --max-steps 9 --save-every 9 -o first
grep -q -e --resume err && bad "$what: advises --resume without a checkpoint" || good
train 0 $small --src s --trg t --max-steps 1 -o second
train 1 --resume --rate 1e29 --schedule constant --warmup 0 --max-steps 9 --save-every 9 -o second
err '--resume goes on from step 1$'
# A model that somebody made, without a checksum and with weights that are too large to compute with: all 8e37.
model=second/step-00000001.safetensors
header=$((8 + $(od -An -tu4 -N4 $model)))
{ head -c $header $model | LC_ALL=C sed 's/n2d.crc32/xxx.crc32/; s/n2d.format/xxx.format/' && tail -c +$((header + 1)) $model | LC_ALL=C tr '\000-\377' '[~*]'; } >huge.safetensors
run 1 "$n2d" score -m huge.safetensors --src s --trg t
err '^n2d score: huge.safetensors: gives line 1 of t a log-probability of -?nan'
[ -s out ] && bad "$what: prints scores" || good
run 1 "$n2d" attention -m huge.safetensors --lines new 'a b' c
err '^n2d attention: the model gives attention weights that are not numbers$'
[ -e new ] && bad "$what: draws nothing" || good
# What 0 would not be taken for: no step at all, a position that sees itself alone.
for option in 'max-steps none' 'max-epochs none' 'max-tokens none' 'patience none' 'save-every epoch' 'valid-every epoch' 'window all' 'd-k auto'; do
	train 2 $small --src s --trg t -o new --${option% *} 0
	err "^n2d train: --${option% *}: '0' must be ${option#* } or a whole number from 1 "
done
train 0 $small --src s --trg t -o zero --max-steps 1 --max-epochs none --window all --valid-bleu 0
# A directory in place of a text.
mkdir folder
train 2 $small --src folder --trg t -o new --max-steps 1
err "^n2d train: cannot read 'folder': Is a directory"

# Names, settings and limits are told with what they are of.
cp -R run stray
cp $model stray/step--5.safetensors
cp $state stray/step--5.state.safetensors
train 0 -q --resume -o stray --max-steps 2
edited stray/step-00000002.state.safetensors bad.state 's/"log-every":"50"/"log-every":"x0"/'
cp bad.state stray/step-00000002.state.safetensors
train 2 -q --resume -o stray --max-steps 3
err "^n2d train: stray/step-00000002.state.safetensors: metadata: log-every: 'x0' must be a whole number"
train 2 $small --src s --trg t --max-tokens 1 -o new --max-steps 1
err '^n2d train: s: none of 2 lines has at most 1 token on either side \(--max-tokens\)$'
train 2 $small --task numbers --max-tokens 2 --lines 10 -o new --max-steps 1
err '^n2d train: the task: none of 10 pairs has at most 2 tokens on either side \(--max-tokens\)$'

# With --ids a vocabulary of words, or of integers in another order, would make all of a text <unk>, or others of its ids.
printf '<pad> 0\n<s> 0\n</s> 0\n<unk> 0\n0 1\n1 1\n2 1\n' >012
printf '<pad> 0\n<s> 0\n</s> 0\n<unk> 0\n1 1\n0 1\n2 1\n' >102
printf '2 0\n1\n' >ids
for vocab in vocab src-vocab; do
	train 2 $small --src ids --trg ids --ids --vocab 012 --tied none --$vocab 102 -o new --max-steps 1
	err "^n2d train: 102:5: '1': with --ids the entries are the integers in their order, here 0"
done
train 0 $small --src ids --trg ids --ids --vocab 012 -o ids.run --max-steps 1
train 0 -q --resume -o ids.run --max-steps 2
train 2 -q --resume -o ids.run --max-steps 3 --src s --trg s
err "^n2d train: s:1: 'a' is no id"
for command in score translate; do
	run 2 "$n2d" $command -m ids.run/step-00000002.safetensors --ids --vocab 102 $([ $command = translate ] && echo -i ids || echo --src ids --trg ids)
	err "^n2d $command: 102:5: '1'"
done
# A vocabulary that no checkpoint has room for is told before the training.
{ head -n 4 012 && head -c 100000000 /dev/zero | tr '\0' a && echo ' 1'; } >huge
train 2 $small --src s --trg t --vocab huge -o new --max-steps 1
err '^n2d train: new: a header of [0-9]* bytes is too large, at most 100000000 \(vocabulary'
[ -e new ] && bad "$what: leaves a directory" || good
rm huge

# A directory that cannot be read is not an empty one. (Root reads it all the same.)
cp -R run unread
chmod 300 unread
train 2 $small --src s --trg t -o unread --max-steps 1
err "^n2d train: (unread: there are checkpoints already|cannot read the directory 'unread')"
chmod 700 unread

# Of a log that lost its head, or was damaged, every row stays, and nothing else.
train 0 $small --src s --trg t -o headless --max-steps 2 --log-every 1
sed -i '1d; $s/$/\nx,y\n1,/' headless/log.csv
train 0 -q --resume -o headless --max-steps 3
[ "$(cut -d , -f 1,2 headless/log.csv | tr '\n' ' ')" = 'schema,step 1,1 1,2 1,3 ' ] && good || bad "$what: $(cut -d , -f 1,2 headless/log.csv | tr '\n' ' ')"

# What a training writes into must be files: a pipe nobody writes would be waited for.
if mkfifo fifo 2>/dev/null; then
	cp -R run piped
	mv fifo piped/log.csv
	train 1 -q --resume -o piped --max-steps 2
	err 'piped/log.csv: expected a file'
fi
# No name is no file's, and not one that ends with it either.
echo precious >.n2d-tmp
what="n2d vocab -o ''"
"$n2d" vocab s -o '' >out 2>err
[ $? = 2 ] && [ "$(cat .n2d-tmp)" = precious ] && good || bad "$what"
err "^n2d vocab: cannot write ''"
# A learned table of positions ends: the line is named, those before it are translated.
train 0 $small --src s --trg t -o table --max-steps 1 --positions learned --max-length 6 --max-tokens 5
printf 'a b\na b c a b c\n' >long
what='n2d translate with learned positions'
"$n2d" translate -q -m table/step-00000001.safetensors -i long >out 2>err
[ $? = 2 ] && [ "$(wc -l <out)" = 1 ] && good || bad "$what"
err "^n2d translate: long:2: expected at most 5 tokens \(the model's learned positions"
"$n2d" attention -m table/step-00000001.safetensors --csv map.csv 'a b c a b c' >out 2>err
[ $? = 2 ] && good || bad 'n2d attention with learned positions'
err '^n2d attention: SOURCE: 6 tokens: '

# Standard streams that are closed: progress does not go into the first files that are opened.
timeout 60 "$n2d" train ${small#-q} --src s --trg t -o closed --max-steps 2 --log-every 1 <&- >&- 2>&-
[ $? = 0 ] && [ "$(wc -l <closed/log.csv)" = 3 ] && ! grep -qvE '^(schema|1),' closed/log.csv closed/valid.csv && good || bad 'closed streams: not the log'
"$n2d" params --vocab 9 >&- 2>err && bad 'params into a closed stream succeeds' || good

# Signals: what ends a terminal ends a training as Ctrl-C does; who stops reading does not end it.
(sh -c 'kill -HUP $$'; exit $?) 2>err
if [ $? = 129 ]; then # not under nohup
	"$n2d" train $small --src s --trg t -o hup --max-steps 1000000 --max-epochs none --save-every 1000000 --log-every 1 2>err &
	n=0
	until [ -f hup/log.csv ] && [ "$(wc -l <hup/log.csv)" -gt 1 ] || [ $n -ge 100 ]; do sleep 0.1; n=$((n + 1)); done
	kill -HUP $!
	wait $!
	code=$?
	[ $code = 129 ] && ls hup/step-*.state.safetensors >out 2>err && good || bad "SIGHUP: exit code $code, and no state"
fi
timeout 60 "$n2d" train ${small#-q} --src s --trg t -o pipe --max-steps 2000 --max-epochs none --save-every 2000 --log-every 1 2>&1 | head -n 1 >out
[ -s pipe/step-00002000.state.safetensors ] && good || bad 'train | head: ended early'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
