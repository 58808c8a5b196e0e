#define _GNU_SOURCE
#include "bench/blas.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/error.h"
#include "base/file.h"
#include "bench/options.h"
#include "bench/pin.h"

struct source {
	const char *name, *file[3], *own; /* own: a function that no other has */
	void (*describe)(struct blas *b);
	const char *variable, *avx512, *avx2; /* what forces it, and to what; NULL: nothing does */
};
static void describe_openblas(struct blas *b), describe_blis(struct blas *b), describe_onednn(struct blas *b);
static const struct source sources[] = {
	{"openblas", {"libopenblas.so.0", "libopenblas.so"}, "openblas_get_config", describe_openblas, "OPENBLAS_CORETYPE",
	 "SKYLAKEX", "HASWELL"},
	{"blis", {"libblis.so.4", "libblis.so"}, "bli_info_get_version_str", describe_blis, "BLIS_ARCH_TYPE", "skx", "haswell"},
	{"onednn", {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"}, "dnnl_version", describe_onednn, NULL, NULL, NULL},
};
enum { SOURCES = sizeof sources / sizeof *sources, ROOM = 2 * SOURCES + 1 };

static struct blas loaded[ROOM];
static const char *path[SOURCES];

int is_blas(const char *name)
{
	int known = strcmp(name, "compiler") == 0;
	for (int i = 0; i < SOURCES; i++)
		known |= strcmp(name, sources[i].name) == 0;
	return known;
}

int blas_path(const char *text, const char *which)
{
	size_t n = strcspn(text, "=");
	for (int i = 0; i < SOURCES; i++)
		if (strlen(sources[i].name) == n && strncmp(sources[i].name, text, n) == 0 && text[n] && text[n + 1] &&
		    (!which || in_list(which, sources[i].name))) {
			path[i] = text + n + 1;
			return 1;
		}
	return 0;
}

/* A function of the library; through memory, because ISO C does not convert pointers to functions. */
static int find(void *handle, const char *name, void *function)
{
	void *p = dlsym(handle, name);
	memcpy(function, &p, sizeof p);
	return p != NULL;
}

/* ---- what each says about itself */

static void describe_openblas(struct blas *b)
{
	const char *(*config)(void), *(*core)(void);
	if (find(b->handle, "openblas_get_config", &config))
		snprintf(b->version, sizeof b->version, "%s", config());
	if (find(b->handle, "openblas_get_corename", &core))
		snprintf(b->arch, sizeof b->arch, "%s", core());
	find(b->handle, "openblas_set_num_threads", &b->set_threads);
}

static void describe_blis(struct blas *b)
{
	const char *(*version)(void), *(*text)(int);
	int (*arch)(void);
	if (find(b->handle, "bli_info_get_version_str", &version))
		snprintf(b->version, sizeof b->version, "BLIS %s", version());
	if (find(b->handle, "bli_arch_query_id", &arch) && find(b->handle, "bli_arch_string", &text))
		snprintf(b->arch, sizeof b->arch, "%s", text(arch()));
	find(b->handle, "bli_thread_set_num_threads", &b->set_threads);
	b->wide = 1;
}

static void describe_onednn(struct blas *b)
{
	struct version {
		int major, minor, patch;
	};
	const struct version *(*version)(void);
	unsigned (*isa)(void);
	if (find(b->handle, "dnnl_version", &version))
		snprintf(b->version, sizeof b->version, "oneDNN %d.%d.%d", version()->major, version()->minor, version()->patch);
	find(b->handle, "omp_set_num_threads", &b->set_threads); /* of the OpenMP that it uses, in a build of ours without too */
	if (find(b->handle, "dnnl_get_effective_cpu_isa", &isa)) {
		unsigned bits = isa(); /* 0x7: AVX2, 0x27: AVX-512, more on top */
		snprintf(b->arch, sizeof b->arch, "%s", (bits & 0x27) == 0x27 ? "avx512" : (bits & 0x7) == 0x7 ? "avx2" : "sse41");
	}
}

/* A first small product settles which kernels it chose. */
static int open_one(struct blas *b, const struct source *s, const char *file)
{
	float x[4] = {1, 2, 3, 4}, y[4] = {0};
	void *own;
	b->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!b->handle)
		return n2d_error("%s", dlerror());
	if (!find(b->handle, s->own, &own) || !(find(b->handle, "cblas_sgemm", &b->cblas) || find(b->handle, "dnnl_sgemm", &b->dnnl))) {
		dlclose(b->handle);
		return n2d_error("%s: it has no %s", file, own ? "product" : s->own);
	}
	blas_gemm(b, 1, 0, 0, 2, 2, 2, y, 2, x, 2, x, 2);
	s->describe(b);
	return y[3] == 22 ? 0 : n2d_error("%s: a wrong product", file);
}

/* ---- the same library again, told which processor this is */

/* The same file is loaded once only: a copy of it is another. */
static int copy_file(const char *from, char *to, size_t room)
{
	char buffer[1 << 16];
	const char *tmp = getenv("TMPDIR");
	snprintf(to, room, "%s/n2d-peer-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	int fd = mkstemp(to), bad = 0;
	FILE *in = fopen(from, "rb"), *out = fd < 0 ? NULL : fdopen(fd, "wb");
	for (size_t n; in && out && (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
		bad |= fwrite(buffer, 1, n, out) != n;
	bad |= !in || !out || ferror(in);
	if (in)
		fclose(in);
	if (out)
		bad |= fclose(out) != 0;
	if (bad && fd >= 0)
		unlink(to);
	return bad ? -1 : 0;
}

/* In a process of its own first, which may die: what it is forced to, the processor may not have. */
static int open_safely(struct blas *b, const struct source *s, const char *file)
{
	int status = -1;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		struct blas x = *b;
		_exit(open_one(&x, s, file) ? 1 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return n2d_error("%s: it dies of a small product", file);
	return open_one(b, s, file);
}

static int open_forced(struct blas *b, const struct blas *plain, const struct source *s, const char *isa)
{
	char copy[4096];
	Dl_info where;
	const char *value = strcmp(isa, "avx512") == 0 ? s->avx512 : strcmp(isa, "avx2") == 0 ? s->avx2 : NULL;
	void *any;
	memcpy(&any, &plain->cblas, sizeof any);
	if (!value || !dladdr(any, &where) || copy_file(where.dli_fname, copy, sizeof copy))
		return -1;
	*b = (struct blas){0};
	snprintf(b->name, sizeof b->name, "%s-forced", s->name);
	setenv(s->variable, value, 1);
	int bad = open_safely(b, s, copy);
	unsetenv(s->variable);
	unlink(copy);
	return bad || strcasecmp(b->arch, plain->arch) == 0 ? -1 : 0;
}

/* ---- all */

static void clean_environment(void)
{
	static const char *const names[] = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS", "BLIS_ARCH_TYPE", "BLIS_NUM_THREADS",
					    "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (getenv(names[i])) {
			fprintf(stderr, "n2d-bench: %s=%s is in the environment and is not passed on to the peers\n", names[i], getenv(names[i]));
			unsetenv(names[i]);
		}
}

/* Threads that libraries have made: the index-th of its library. */
static struct worker {
	int task, index;
} worker[1024];
static int workers, index_next;

static int see_task(void *arg, const char *name)
{
	int task = atoi(name), known = task <= 0;
	(void)arg;
	for (int i = 0; i < workers; i++)
		known |= worker[i].task == task;
	if (!known && workers < (int)(sizeof worker / sizeof *worker))
		worker[workers++] = (struct worker){task, index_next++};
	return 0;
}

/* A fork ends the threads of OpenBLAS, which starts them again at the next large product: now, so that they are known. */
static void start_threads(const struct blas *b)
{
	enum { N = 384 };
	float *x = calloc(2 * N * N, sizeof *x);
	if (x)
		blas_gemm(b, (int)sysconf(_SC_NPROCESSORS_ONLN), 0, 0, N, N, N, x + N * N, N, x, N, x, N);
	free(x);
	index_next = 1; /* the caller is 0 */
	n2d_dir_each("/proc/self/task", see_task, NULL);
}

void blas_pin(void)
{
	const int *cpu;
	int cpus = pin_cpus(&cpu);
	for (int i = 0; i < workers && cpus; i++) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET(cpu[worker[i].index % cpus], &set);
		if (worker[i].task != (int)getpid())
			sched_setaffinity(worker[i].task, sizeof set, &set); /* OpenMP's are pinned with ours */
	}
}

static int add_plain(struct blas *b, const char *isa)
{
	*b = (struct blas){.name = "compiler", .plain = plain_for(isa)};
#ifdef __clang__
	snprintf(b->version, sizeof b->version, "%s", __VERSION__);
#else
	snprintf(b->version, sizeof b->version, "gcc %s", __VERSION__);
#endif
	snprintf(b->arch, sizeof b->arch, "%s", isa);
	return b->plain != NULL;
}

/* The first of its usual files, or the one that was named. */
static int open_source(struct blas *b, int source)
{
	const struct source *s = sources + source;
	int bad = -1;
	for (int j = 0; j < (path[source] ? 1 : 3) && bad; j++) {
		const char *file = path[source] ? path[source] : s->file[j];
		*b = (struct blas){0};
		snprintf(b->name, sizeof b->name, "%s", s->name);
		if (file)
			bad = open_safely(b, s, file);
	}
	return bad;
}

int blas_load(const struct blas **list, const char *isa, const char *which)
{
	int n = 0;
	clean_environment();
	for (int i = 0; i < SOURCES; i++) {
		struct blas *b = loaded + n;
		if (which && !in_list(which, sources[i].name))
			continue;
		int bad = open_source(b, i);
		if (bad && path[i])
			return -1;
		if (bad)
			fprintf(stderr, "n2d-bench: no %s here\n", sources[i].name);
		else if (b->cblas && !open_forced(loaded + n + 1, b, sources + i, isa))
			n += 2;
		else
			n++;
	}
	n2d_dir_each("/proc/self/task", see_task, NULL); /* those there were */
	for (int i = 0; i < n; i++) {
		start_threads(loaded + i);
		fprintf(stderr, "n2d-bench: peer %s: %s, chose %s\n", loaded[i].name, loaded[i].version, loaded[i].arch);
	}
	*list = loaded;
	return which && !in_list(which, "compiler") ? n : n + add_plain(loaded + n, isa);
}

void blas_threads(const struct blas *b, int threads)
{
#ifdef _OPENMP
	omp_set_num_threads(threads); /* for those that use OpenMP */
#endif
	if (b->set_threads && b->wide) {
		void (*set)(int64_t);
		memcpy(&set, &b->set_threads, sizeof set);
		set(threads);
	} else if (b->set_threads) {
		void (*set)(int);
		memcpy(&set, &b->set_threads, sizeof set);
		set(threads);
	}
}

void blas_gemm(const struct blas *b, int threads, int ta, int tb, size_t M, size_t N, size_t K, float *C, size_t ldc, const float *A,
	       size_t lda, const float *B, size_t ldb)
{
	enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };
	if (b->plain) {
		b->plain(ta, tb, M, N, K, C, ldc, A, lda, B, ldb);
		return;
	}
	blas_threads(b, threads);
	if (b->dnnl)
		b->dnnl(ta ? 'T' : 'N', tb ? 'T' : 'N', (long)M, (long)N, (long)K, 1, A, (long)lda, B, (long)ldb, 0, C, (long)ldc);
	else
		b->cblas(ROW_MAJOR, ta ? TRANSPOSED : PLAIN, tb ? TRANSPOSED : PLAIN, (int)M, (int)N, (int)K, 1, A, (int)lda, B, (int)ldb, 0, C,
			 (int)ldc);
}
