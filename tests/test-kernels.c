/* Runs every problem on every instruction set that is compiled in and supported.
 *
 *	test-kernels [--isa ID] [--kernel NAME] [--dims A,B,...] [--place N] [--seed N] [--long] [--list]
 *
 * A failure prints the command that repeats it alone. N2D_EXPECT_ISAS="avx2 avx512" makes it a
 * failure when one of these was not tested. */
#include "config.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/problem/problem.h"

static struct {
	const char *isa, *kernel, *dims;
	int place, one_place, list, many;
	uint64_t seed;
} opt = {.seed = 1};

static struct {
	const struct n2d_kernels *k;
	const struct problem_kind *kind;
	size_t dim[PROBLEM_DIMS];
	int place;
	size_t passed, failed;
} now;

static void repeat_line(FILE *f)
{
	char name[128];
	problem_name(now.kind, now.dim, name, sizeof name);
	fprintf(f, "  %s/%s/%s\n  repeat: tests/test-kernels --isa %s --kernel %s --place %d --seed %llu --dims ", now.kind->kernel,
		now.k->isa, name, now.k->isa, now.kind->kernel, now.place, (unsigned long long)opt.seed);
	for (int i = 0; i < PROBLEM_DIMS; i++)
		fprintf(f, "%s%zu", i ? "," : "", now.dim[i]);
	fprintf(f, "\n");
}

static void on_signal(int sig)
{
	printf("FAIL signal %d\n", sig); /* not async-safe, but the process is lost anyway */
	repeat_line(stdout);
	fflush(stdout);
	_exit(1);
}

static void run_one(int place)
{
	static struct problem p;
	now.place = place;
	problem_open(&p, now.kind, now.k, now.dim, place, opt.seed);
	if (problem_run(&p)) {
		if (now.failed++ < 20) {
			printf("FAIL %s (%zu of %zu)\n", p.first, p.failed, p.checked);
			repeat_line(stdout);
		}
	} else {
		now.passed++;
	}
	problem_close(&p);
}

/* The end of a page, the start of one, and each offset from a vector boundary. */
static void use(struct problem_use *u, const size_t *dim)
{
	(void)u;
	memcpy(now.dim, dim, sizeof now.dim);
	if (opt.one_place) {
		run_one(opt.place);
		return;
	}
	run_one(GUARD_END);
	run_one(0);
	int offsets = (int)now.k->lanes;
	for (int o = 1; o < offsets; o += opt.many || dim[0] <= 40 ? 1 : 5)
		run_one(o);
}

static void parse_dims(void)
{
	char *s = (char *)opt.dims;
	for (int i = 0; i < PROBLEM_DIMS && *s; i++) {
		now.dim[i] = strtoull(s, &s, 10);
		s += *s == ',';
	}
}

static void run_kind(const struct problem_kind *kind)
{
	struct problem_use u = {.fn = use};
	now.kind = kind;
	if (opt.dims) {
		parse_dims();
		size_t dim[PROBLEM_DIMS];
		memcpy(dim, now.dim, sizeof dim);
		use(&u, dim);
	} else {
		kind->shapes(&u, now.k);
	}
}

static void run_isa(const struct n2d_isa *isa)
{
	size_t passed = now.passed, failed = now.failed;
	now.k = isa->k;
	for (size_t i = 0; problem_kinds[i]; i++)
		if (!opt.kernel || strcmp(opt.kernel, problem_kinds[i]->kernel) == 0)
			run_kind(problem_kinds[i]);
	printf("%-8s %zu passed, %zu failed\n", isa->name, now.passed - passed, now.failed - failed);
	fflush(stdout);
}

/* Every row of kernels.def must have a problem. */
static void check_coverage(void)
{
	static const char *const rows[] = {
#define N2D_KERNEL(family, ret, name, args) #name,
#include "simd/kernels.def"
#undef N2D_KERNEL
	};
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		size_t i = 0;
		while (problem_kinds[i] && strcmp(problem_kinds[i]->kernel, rows[r]) != 0)
			i++;
		if (!problem_kinds[i]) {
			printf("FAIL kernel %s has no problem in tests/problem/kinds.def\n", rows[r]);
			now.failed++;
		}
	}
}

static void check_expected(const char *tested)
{
	char *list = getenv("N2D_EXPECT_ISAS");
	if (!list || opt.isa)
		return;
	list = strdup(list);
	for (char *s = strtok(list, " ,"); s; s = strtok(NULL, " ,")) {
		char word[32];
		snprintf(word, sizeof word, " %s ", s);
		if (!strstr(tested, word)) {
			printf("FAIL instruction set %s was expected (N2D_EXPECT_ISAS) and not tested\n", s);
			now.failed++;
		}
	}
	free(list);
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"isa", 1, 0, 'i'}, {"kernel", 1, 0, 'k'}, {"dims", 1, 0, 'd'}, {"place", 1, 0, 'p'},
		{"seed", 1, 0, 's'}, {"long", 0, 0, 'l'}, {"list", 0, 0, 'L'}, {0, 0, 0, 0},
	};
	for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;)
		switch (c) {
		case 'i': opt.isa = optarg; break;
		case 'k': opt.kernel = optarg; break;
		case 'd': opt.dims = optarg; break;
		case 'p': opt.place = atoi(optarg), opt.one_place = 1; break;
		case 's': opt.seed = strtoull(optarg, NULL, 10); break;
		case 'l': opt.many = 1; break;
		case 'L': opt.list = 1; break;
		default: exit(2);
		}
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	if (opt.list) {
		for (size_t i = 0; problem_kinds[i]; i++)
			printf("%s (%s)\n", problem_kinds[i]->kernel, problem_kinds[i]->dims);
		return 0;
	}
	signal(SIGSEGV, on_signal);
	signal(SIGBUS, on_signal);
	signal(SIGILL, on_signal);
	signal(SIGFPE, on_signal);
	char tested[256] = " ";
	size_t n;
	const struct n2d_isa *isa = n2d_isa_all(&n);
	for (size_t i = 0; i < n; i++) {
		if (!isa[i].k || !isa[i].supported || (opt.isa && strcmp(opt.isa, isa[i].name) != 0))
			continue;
		strcat(strcat(tested, isa[i].name), " ");
		run_isa(isa + i);
	}
	if (!opt.kernel)
		check_coverage();
	check_expected(tested);
	printf("instruction sets tested:%s\n%zu passed, %zu failed\n", tested, now.passed, now.failed);
	if (!now.passed && !now.failed)
		printf("nothing was tested: unknown kernel or instruction set\n");
	return now.failed || !now.passed;
}
