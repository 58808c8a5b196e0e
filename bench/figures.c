/* n2d-bench figures: gnuplot scripts with their data inside, and the SVG files that gnuplot makes of them. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "bench/bench.h"
#include "bench/options.h"
#include "bench/style.h"
#include "bench/table.h"

static const char usage[] =
	"usage: n2d-bench figures [options] [CSV...]\n\n"
	"Draws time, per cent of the limit and memory against the length as SVG, from the files of n2d-bench layers (default:\n"
	"results/local/layers.csv results/local/paths.csv). Each figure's gnuplot script is kept beside it, with its data.\n\n"
	"  --out DIR      where to, made when it is missing (default results/local)\n"
	"  --isa NAME     default: the first in the file\n"
	"  --threads N    default: the fewest in the file\n"
	"  --pass P       forward (default) or train\n"
	"  --help\n";

enum { OUT_MOST = 1000 };
static struct {
	const char *out, *isa, *pass;
	size_t threads;
} opt = {.out = "results/local"};

/* mark: points too. */
static void style(FILE *f, const char *layer, const char *with, int mark)
{
	fprintf(f, "with %s lc rgb '%s'", with, layer_style(layer)->colour);
	if (mark)
		fprintf(f, " pt %d", layer_style(layer)->mark);
}

static FILE *script(struct n2d_out *o, const char *name)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s.gp", opt.out, name);
	if (n2d_out_open(o, path))
		return NULL;
	fprintf(o->f, "# gnuplot %s.gp  makes  %s.svg\n"
		      "set terminal svg size 1000,600 font 'sans-serif,14' background '#ffffff'\n"
		      "set output '%s.svg'\n"
		      "set key outside right top vertical Left reverse samplen 2 spacing 1.15\n"
		      "set grid lc rgb '#dddddd' lt 1\nset border lc rgb '#444444'\nset tics nomirror\n"
		      "set logscale x 2\nset xlabel 'sequence length n'\n", name, name, name);
	return o->f;
}

/* Runs gnuplot in the output folder, without a shell. */
static int draw(const char *name)
{
	char file[64];
	int status;
	snprintf(file, sizeof file, "%s.gp", name);
	pid_t pid = fork();
	if (pid == 0) {
		if (chdir(opt.out) == 0)
			execlp("gnuplot", "gnuplot", file, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return n2d_error("gnuplot could not be started: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		printf("%s/%s (gnuplot is not there: draw it where it is)\n", opt.out, file);
		return 0;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		char svg[1100];
		snprintf(svg, sizeof svg, "%s/%s.svg", opt.out, name);
		unlink(svg); /* begun and empty */
		return n2d_error("gnuplot %s/%s failed", opt.out, file);
	}
	printf("%s/%s.svg\n", opt.out, name);
	return 0;
}

static int finish(struct n2d_out *o, const char *name) { return n2d_out_commit(o) || draw(name) ? -1 : 0; }

/* A text under the axis, in lines that the picture has room for. */
static void below(FILE *f, const char *text)
{
	enum { LINE = 130 };
	fprintf(f, "set xlabel \"sequence length n");
	for (size_t n; *text; text += n + (text[n] == ' ')) {
		n = strlen(text);
		if (n > LINE)
			for (n = LINE; n > 1 && text[n] != ' ';)
				n--;
		fprintf(f, "\\n{/*0.8 %.*s}", (int)n, text);
	}
	fprintf(f, "\"\n");
}

/* pass: of the figure, or NULL for several. */
static void subject(FILE *f, const char *what, const char *pass, const struct table *t)
{
	fprintf(f, "set title \"%s\\n{/*0.85 d = %.0f, %s%s%s, %d thread%s, one sequence}\"\n", what, t->row[0].at_d, pass ? pass : "",
		pass ? ", " : "", t->choice.isa, t->choice.threads, t->choice.threads > 1 ? "s" : "");
}

/* $name << EOD: n and value of a series. */
static void data(FILE *f, const char *block, size_t i, const struct series *s, double (*value)(const struct point *))
{
	fprintf(f, "$%s%zu << EOD\n", block, i);
	for (size_t k = 0; k < s->n; k++)
		fprintf(f, isnan(value(s->p[k])) ? "%.0f NaN\n" : "%.0f %.6g\n", s->p[k]->n, value(s->p[k]));
	fprintf(f, "EOD\n");
}

static double milliseconds(const struct point *p) { return 1e3 * p->seconds; }
static double percent(const struct point *p) { return p->percent; }
static double mebibytes(const struct point *p) { return p->memory_bytes / (1 << 20); }

static int is_self(const char *layer) { return strcmp(layer, "self-attention") == 0; }

/* The other layer of a pair whose times cross self-attention's, as measured; NULL: another pair, or they do not. */
static const char *crosses(const struct table_pair *p)
{
	const char *other = is_self(p->a) ? p->b : p->a;
	int shown = (is_self(p->a) || is_self(p->b)) && strcmp(other, "self-attention-materialised") != 0;
	return shown && p->n > 0 && isfinite(p->n) ? other : NULL;
}

/* Where they cross: one block of data each. */
static void crossings(FILE *f, const struct table *t, const struct results *r)
{
	struct series self;
	results_over_n(&self, r, &t->choice, "self-attention");
	for (size_t i = 0; i < t->pairs; i++)
		if (crosses(t->pair + i))
			fprintf(f, "$cross%zu << EOD\n%.1f %.6g\nEOD\n", i, t->pair[i].n, 1e3 * results_at(&self, t->pair[i].n));
}

/* Rings, whose names and lengths stand in the key: beside the rings they would lie on data. */
static void rings(FILE *f, const struct table *t)
{
	int n = 0;
	for (size_t i = 0; i < t->pairs; i++) {
		const char *other = crosses(t->pair + i);
		if (other && !n++)
			fprintf(f, ", \\\n1/0 title 'n*: self-attention crosses' with points pt 6 ps 1.8 lw 2 lc rgb '#000000'");
		if (other)
			fprintf(f, ", \\\n$cross%zu title '%s %.0f' with points pt 6 ps 1.8 lw 2 lc rgb '%s'", i, other, t->pair[i].n,
				layer_style(other)->colour);
	}
}

static int figure_time(const struct table *t, const struct results *r)
{
	struct n2d_out o;
	struct series s;
	FILE *f = script(&o, "time");
	if (!f)
		return -1;
	for (size_t i = 0; i < t->rows; i++) {
		results_over_n(&s, r, &t->choice, t->row[i].layer);
		data(f, "t", i, &s, milliseconds);
	}
	int fits = 0;
	crossings(f, t, r);
	subject(f, "Time of a layer", t->choice.pass, t);
	fprintf(f, "set logscale y 10\nset format y '%%g'\nset ylabel 'milliseconds'\nset xrange [%.1f:%.1f]\nplot ", t->n_from / 1.2,
		t->n_to * 1.2);
	if (table_fit_shown(t->row)) /* else gnuplot takes the first range for that of the axis, and the word without one for a variable */
		fprintf(f, "sample ");
	for (size_t i = 0; i < t->rows; i++) {
		const struct table_row *w = t->row + i;
		if (table_fit_shown(w)) {
			fprintf(f, "[%.0f:%.0f] 1e3*(%.9g+%.9g*x*%.0f+%.9g*x*x*%.0f) notitle ", w->n_from, w->n_to, w->fit.c[0], w->fit.c[1],
				w->at_d * w->at_d, w->fit.c[2], w->at_d);
			style(f, w->layer, "lines lw 1.2", 0);
			fprintf(f, ", ");
			fits = 1;
		}
		fprintf(f, "$t%zu title '%s%s' ", i, w->layer, w->disturbed ? ", disturbed" : "");
		style(f, w->layer, "points ps 0.9", 1);
		fprintf(f, i + 1 < t->rows ? ", \\\n" : "");
	}
	if (fits)
		fprintf(f, ", \\\n1/0 title 'fit c0 + c1 n d^2 + c2 n^2 d' with lines lc rgb '#000000' lw 1.2");
	rings(f, t);
	fprintf(f, "\n");
	return finish(&o, "time");
}

static int figure_limit(const struct table *t, const struct results *r)
{
	enum { TOP = 110 };
	static struct where hidden;
	struct n2d_out o;
	struct series s;
	FILE *f = script(&o, "limit");
	if (!f)
		return -1;
	for (size_t i = 0; i < t->rows; i++) {
		results_over_n(&s, r, &t->choice, t->row[i].layer);
		data(f, "l", i, &s, percent);
	}
	subject(f, "Share of the machine's limit, min(peak, intensity x bandwidth), measured in the same minute", t->choice.pass, t);
	table_hidden(&hidden, t, r, TOP);
	if (*hidden.text) {
		char text[sizeof hidden.text + 200];
		snprintf(text, sizeof text, "Not shown: %s (" TABLE_HIDDEN_NOTE ").", hidden.text);
		below(f, text);
	}
	fprintf(f, "set ylabel 'per cent of the limit'\nset yrange [0:%d]\nset ytics 20\nset xrange [%.1f:%.1f]\nplot 100 notitle with lines "
		   "lc rgb '#000000' lw 1", TOP, t->n_from / 1.2, t->n_to * 1.2);
	for (size_t i = 0; i < t->rows; i++) {
		fprintf(f, ", \\\n$l%zu title '%s%s' ", i, t->row[i].layer, t->row[i].disturbed ? ", disturbed" : "");
		style(f, t->row[i].layer, "linespoints ps 0.9 lw 1.4", 1);
	}
	fprintf(f, "\n");
	return finish(&o, "limit");
}

/* Both passes: what training keeps is the argument for the streaming version. */
static int figure_memory(const struct table *t, const struct results *r)
{
	static const char *const layers[] = {"self-attention", "self-attention-materialised"};
	static const char *const passes[] = {"forward", "train"};
	struct n2d_out o;
	size_t drawn = 0;
	FILE *f = script(&o, "memory");
	if (!f)
		return -1;
	struct series s[4];
	for (size_t i = 0; i < 4; i++) {
		struct choice c = t->choice;
		c.pass = passes[i % 2];
		results_over_n(s + i, r, &c, layers[i / 2]);
		data(f, "m", i, s + i, mebibytes);
		drawn += s[i].n;
	}
	subject(f, "Memory beyond input, output and weights", NULL, t);
	fprintf(f, "set logscale y 2\nset format y '%%g'\nset ylabel 'MiB touched in saved activations and workspace'\nset xrange "
		   "[%.1f:%.1f]\nplot ", t->n_from / 1.2, t->n_to * 1.2);
	for (size_t i = 0, first = 1; i < 4; i++) {
		if (!s[i].n)
			continue;
		fprintf(f, "%s$m%zu title '%s, %s' ", first ? "" : ", \\\n", i, i / 2 ? "materialised" : "streaming",
			i % 2 ? "forward + backward" : "forward");
		style(f, layers[i / 2], i % 2 ? "linespoints ps 0.9 lw 1.6" : "linespoints ps 0.9 lw 1.6 dt 2", 1);
		first = 0;
	}
	fprintf(f, "\n");
	if (!drawn) { /* self-attention was not measured */
		n2d_out_cancel(&o);
		return 0;
	}
	return finish(&o, "memory");
}

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"out", 1, 0, 'o'}, {"isa", 1, 0, 'i'}, {"threads", 1, 0, 't'}, {"pass", 1, 0, 'p'}, {0, 0, 0, 0},
	};
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, ":", longs, NULL)) != -1;)
		switch (c) {
		case 'o': opt.out = optarg; break;
		case 'i': opt.isa = optarg; break;
		case 'p': opt.pass = optarg; break;
		case 't':
			if (parse_number(&opt.threads, "--threads", optarg, 1, 1024))
				return -1;
			break;
		default: return n2d_error("unknown option or missing value: %s", argv[optind - 1]);
		}
	if (!*opt.out || strlen(opt.out) > OUT_MOST)
		return n2d_error("--out: expected a directory's name of 1 to %d bytes", OUT_MOST);
	return 0;
}

int bench_figures(int argc, char **argv)
{
	static struct table t;
	struct results r;
	struct choice c;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0)
			return fputs(usage, stdout), N2D_EXIT_OK;
	if (parse(argc, argv) || results_read_all(&r, argv + optind, argc - optind))
		return bench_usage_error("figures");
	if (results_choose(&c, &r, opt.isa, (int)opt.threads, opt.pass, 1)) {
		results_free(&r);
		return bench_usage_error("figures");
	}
	table_make(&t, &r, &c);
	fflush(stdout);
	int bad = n2d_dir_make(opt.out) || figure_time(&t, &r) || figure_limit(&t, &r) || figure_memory(&t, &r);
	results_free(&r);
	return bad ? bench_failed("figures") : N2D_EXIT_OK;
}
