# The curve of a training: gnuplot -c curve.gp VALID.csv >loss.svg (valid.csv of n2d train)
set terminal svg size 720,420 font "sans,13" background rgb "white"
set datafile separator ","
set xlabel "step"
set ylabel "nll on val, nats a token"
set grid
bleus = 0
set table $counted
plot ARG1 every ::1 using (bleus = bleus + (strcol(8) ne ""), 0) with table
unset table
if (bleus) {
	set y2label "BLEU on val, greedy"
	set ytics nomirror
	set y2tics
	plot ARG1 every ::1 using 2:5 with linespoints pt 7 ps 0.4 title "nll", \
		"" every ::1 using 2:8 axes x1y2 with linespoints pt 5 ps 0.4 title "BLEU"
} else {
	plot ARG1 every ::1 using 2:5 with linespoints pt 7 ps 0.4 title "nll"
}
