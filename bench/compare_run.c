/* Two builds of n2d-bench, run in turn. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "bench/compare.h"
#include "bench/drive.h"
#include "bench/options.h"
#include "bench/temporary.h"

/* The shapes of a command, where it has more than a gate has time for. */
static const struct command {
	const char *name, *option[8];
} commands[] = {
	{"kernels", {"--no-limits"}},
	{"layers", {"--no-limits", "--n", "64,512", "--d", "256", "--pass", "train"}},
	{"step", {NULL}},
	{"decode", {"--cache", "yes"}}, /* without caches translations take many times as long */
};
enum { COMMANDS = sizeof commands / sizeof *commands };

int compare_is_command(const char *name)
{
	for (int i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return 1;
	return 0;
}

/* ---- one process */

enum { SCRATCH = 4096 };
static struct {
	char dir[SCRATCH];
	char ids[SCRATCH + 16], csv[SCRATCH + 16], json[SCRATCH + 16], log[SCRATCH + 16];
} scratch;

static int scratch_make(void)
{
	if (temporary_directory(scratch.dir, sizeof scratch.dir, "n2d-compare"))
		return -1;
	snprintf(scratch.ids, sizeof scratch.ids, "%s/ids", scratch.dir);
	snprintf(scratch.csv, sizeof scratch.csv, "%s/run.csv", scratch.dir);
	snprintf(scratch.json, sizeof scratch.json, "%s/run.json", scratch.dir);
	snprintf(scratch.log, sizeof scratch.log, "%s/log", scratch.dir);
	return 0;
}

static void scratch_remove(void)
{
	unlink(scratch.ids);
	unlink(scratch.csv);
	unlink(scratch.json);
	unlink(scratch.log);
	rmdir(scratch.dir);
}

static void to_file(int fd, const char *path)
{
	int f = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	if (f < 0 || dup2(f, fd) < 0)
		_exit(127);
	close(f);
}

/* The exit code; 128 and more: a signal. */
static int wait_for(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int spawn(char *const argv[], const char *out)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		to_file(STDOUT_FILENO, out);
		to_file(STDERR_FILENO, scratch.log);
		signal(SIGPIPE, SIG_DFL);
		execv(argv[0], argv);
		fprintf(stderr, "n2d-bench cannot be run: %s\n", strerror(errno));
		_exit(127);
	}
	return pid < 0 ? 127 : wait_for(pid);
}

/* What the process said last. */
static int spawn_failed(const char *program, const char *command, int code)
{
	char line[400], last[400] = ""; /* the progress comes between */
	FILE *f = fopen(scratch.log, "r");
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, "n2d-bench", 9) == 0)
			snprintf(last, sizeof last, "%s", line);
	}
	if (f)
		fclose(f);
	return n2d_error("%s %s: exit code %d: %s", program, command, code, last);
}

/* ---- arguments */

struct words {
	char **w;
	size_t n, room;
};

static void word(struct words *l, const char *text)
{
	if (l->n + 1 >= l->room) {
		l->room = l->room ? 2 * l->room : 64;
		l->w = realloc(l->w, l->room * sizeof *l->w);
		if (!l->w)
			abort();
	}
	l->w[l->n++] = (char *)text;
	l->w[l->n] = NULL;
}

static const char *program_of(const char *dir)
{
	static char path[2][4096];
	static int turn;
	turn = !turn;
	snprintf(path[turn], sizeof path[turn], "%s/n2d-bench", dir);
	return path[turn];
}

/* A revision that does not know an option yet is run without it, and so is the other one. */
static int knows(const char *program, const char *command, const char *option)
{
	char line[512];
	int found = 0;
	if (spawn((char *[]){(char *)program, (char *)command, "--help", NULL}, scratch.ids))
		return 0;
	FILE *f = fopen(scratch.ids, "r");
	while (f && !found && fgets(line, sizeof line, f))
		found = strstr(line, option) != NULL;
	if (f)
		fclose(f);
	return found;
}

static void common_words(struct words *l, const char *program, const struct command *k, const struct compare_plan *p, int no_limits)
{
	static char threads[32];
	l->n = 0;
	word(l, program);
	word(l, k->name);
	for (const char *const *o = k->option; *o; o++)
		if (no_limits || strcmp(*o, "--no-limits") != 0)
			word(l, *o);
	if (p->isa) {
		word(l, "--isa");
		word(l, p->isa);
	}
	snprintf(threads, sizeof threads, "%zu", p->threads);
	word(l, "--threads");
	word(l, threads);
}

/* ---- what there is to run */

struct job {
	const struct command *command;
	struct words id;
	int no_limits;
};

/* The ids of one build, as it will be run: without limits there are fewer. Those of both are run, the others become rows without values on one side. */
static int list(struct comparison *c, int side, const char *dir, const struct job *j, const struct compare_plan *p, const struct compare_patterns *r)
{
	struct words l = {0};
	char line[512];
	const char *program = program_of(dir);
	common_words(&l, program, j->command, p, j->no_limits);
	word(&l, "--benchmark_list_tests");
	int code = spawn(l.w, scratch.ids);
	free(l.w);
	if (code)
		return spawn_failed(program, j->command->name, code);
	FILE *f = fopen(scratch.ids, "r");
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		if (*line && compare_wanted(r, line))
			compare_row(c, line)->listed |= 1 << side;
	}
	if (f)
		fclose(f);
	return 0;
}

static int find_jobs(struct comparison *c, struct job *job, const char *const dir[SIDES], const struct compare_plan *p, const struct compare_patterns *r)
{
	int jobs = 0;
	for (int i = 0; i < COMMANDS; i++) {
		if (!in_list(p->command, commands[i].name))
			continue;
		struct job *j = job + jobs++;
		size_t first = c->rows;
		*j = (struct job){.command = commands + i};
		j->no_limits = knows(program_of(dir[BASE]), j->command->name, "--no-limits") &&
			       knows(program_of(dir[HEAD]), j->command->name, "--no-limits");
		if (list(c, BASE, dir[BASE], j, p, r) || list(c, HEAD, dir[HEAD], j, p, r))
			return -1;
		for (size_t k = first; k < c->rows; k++)
			if (c->row[k].listed == (1 << BASE | 1 << HEAD))
				word(&j->id, c->row[k].id);
	}
	return jobs;
}

/* ---- running it */

static int run_one(struct comparison *c, int side, const char *dir, const struct job *j, const struct compare_plan *p)
{
	struct words l = {0};
	char samples[32];
	const char *program = program_of(dir);
	common_words(&l, program, j->command, p, j->no_limits);
	snprintf(samples, sizeof samples, "%zu", p->samples);
	word(&l, "--samples");
	word(&l, samples);
	word(&l, "--csv");
	word(&l, scratch.csv);
	for (size_t i = 0; i < j->id.n; i++)
		word(&l, j->id.w[i]);
	unlink(scratch.csv);
	int code = spawn(l.w, "/dev/null");
	free(l.w);
	if (n2d_stop)
		return n2d_error("interrupted");
	if (code) {
		spawn_failed(program, j->command->name, code);
		if (code != N2D_EXIT_FAILED)
			return -1;
		fprintf(stderr, "n2d-bench compare: %s\n", n2d_error_text()); /* a check; what passed is in the file */
	}
	return compare_read(c, side, scratch.csv, 1);
}

/* Both orders of a pair are equally likely: what drifts, drifts for both. */
static int run_rounds(struct comparison *c, const char *const dir[SIDES], const struct job *job, int jobs, const struct compare_plan *p,
		      const char *what)
{
	struct n2d_rng rng;
	double start = n2d_now();
	size_t done = 0, all = p->rounds * SIDES * (size_t)jobs;
	n2d_rng_init(&rng, (uint64_t)(1e9 * start), 0);
	for (size_t round = 0; round < p->rounds; round++)
		for (int j = 0; j < jobs; j++)
			for (int k = 0, first = (int)n2d_rng_below(&rng, 2); k < SIDES; k++, done++) {
				double part = (double)done / (double)all, passed = n2d_now() - start;
				drive_progress(part, done ? passed / part - passed : -1, what);
				if (job[j].id.n && run_one(c, first ^ k, dir[first ^ k], job + j, p))
					return -1;
			}
	return 0;
}

/* Only what is taken again stays in the jobs. */
static size_t keep_suspects(struct comparison *c, struct job *job, int jobs, int pass)
{
	size_t suspects = 0;
	compare_judge(c);
	for (int j = 0; j < jobs; j++) {
		size_t kept = 0;
		for (size_t i = 0; i < job[j].id.n; i++) {
			struct compare_row *r = compare_row(c, job[j].id.w[i]);
			if (compare_again(r, pass))
				job[j].id.w[kept++] = r->id;
		}
		suspects += job[j].id.n = kept;
	}
	return suspects;
}

static int run_jobs(struct comparison *c, const char *const dir[SIDES], struct job *job, const struct compare_plan *p)
{
	struct compare_patterns r;
	size_t ids = 0;
	if (compare_patterns_open(&r, p))
		return -1;
	int jobs = find_jobs(c, job, dir, p, &r);
	compare_patterns_free(&r);
	for (int j = 0; j < jobs; j++)
		ids += job[j].id.n;
	if (jobs < 0 || (!ids && n2d_error("no benchmark that both builds have passes --filter and --exclude")))
		return -1;
	if (run_rounds(c, dir, job, jobs, p, "base and head in turn"))
		return -1;
	struct compare_plan again = *p;
	again.rounds = p->rounds < 8 ? 24 : 3 * p->rounds < COMPARE_MOST ? 3 * p->rounds : COMPARE_MOST;
	c->again = 1;
	for (int pass = 0; pass < 3; pass++)
		if (keep_suspects(c, job, jobs, pass) && run_rounds(c, dir, job, jobs, &again, "what looks slower, again"))
			return -1;
	return 0;
}

int compare_run(struct comparison *c, const char *const dir[SIDES], const struct compare_plan *p)
{
	struct job job[COMMANDS] = {{0}};
	if (scratch_make())
		return -1;
	drive_catch();
	int bad = run_jobs(c, dir, job, p);
	drive_progress_end();
	scratch_remove();
	for (int i = 0; i < COMMANDS; i++)
		free(job[i].id.w);
	return bad;
}
