# A recipe's CSV file as the table that is read: awk -f markdown.awk FILE.csv. The recipes make theirs so, and tests/results.sh those that are kept.

# The columns of a line: RFC 4180, in one line; 0: it is none.
function split_csv(line,  n) {
	for (n = 1; match(line, /^("([^"]|"")*"|[^",]*)/); n++) {
		cell[n] = substr(line, 1, RLENGTH)
		if (gsub(/^"|"$/, "", cell[n]))
			gsub(/""/, "\"", cell[n])
		if (RLENGTH == length(line))
			return n
		if (substr(line, RLENGTH + 1, 1) != ",")
			return 0
		line = substr(line, RLENGTH + 2)
	}
}
function fail(what) {
	print "markdown.awk: " FILENAME ": " what >"/dev/stderr"
	exit failed = 1
}

{
	columns = split_csv($0)
	for (i = 1; i <= columns; i++)
		gsub(/\|/, "\\|", cell[i])
}
NR == 1 {
	wanted = columns
	if ($0 == "schema,task,lines,exact,least,seconds,command")
		schema = "tasks/1"
	else if ($0 == "schema,mixer,d_ff,parameters,steps,valid_nll,bleu,tokens_per_second,seconds")
		schema = "mixers/1"
	else if ($0 == "schema,what,value")
		schema = "recipe/1"
	else
		fail("not the columns of tasks/1, mixers/1 or recipe/1")
	next
}
columns != wanted {fail("line " NR ": expected " wanted " columns, quoted as RFC 4180 says")}
cell[1] != schema {fail("line " NR ": expected " schema)}
NR == 2 && schema == "tasks/1" {
	print "| task | % of " cell[3] " held-out lines exact | at least | seconds of training | command |\n|---|--:|--:|--:|---|"
}
NR == 2 && schema == "mixers/1" {
	print "| mixer | d_ff | parameters | steps | nll on val | BLEU | tokens/s |\n|---|---|---|---|---|---|---|"
}
NR == 2 && schema == "recipe/1" {print "| | |\n|---|---|"}
schema == "recipe/1" && cell[2] == "curve" {curve = cell[3]; next}
schema == "recipe/1" {print "| " cell[2] " | " cell[3] " |"}
schema == "tasks/1" {print "| " cell[2] " | " cell[4] " | " cell[5] " | " cell[6] " | `" cell[7] "` |"}
schema == "mixers/1" {print "| " cell[2] " | " cell[3] " | " cell[4] " | " cell[5] " | " cell[6] " | " cell[7] " | " cell[8] " |"}
END {
	if (!failed && NR < 2)
		fail("no rows")
	if (curve && !failed)
		print "\n![loss and BLEU on val](" curve ")"
	exit failed
}
