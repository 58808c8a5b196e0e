/* Floor 1: sizes, arena, generator, threads, context. */
#include "config.h"

#include <sched.h>
#include <time.h>

#include "base/arena.h"
#include "base/machine.h"
#include "base/size.h"
#include "base/threads.h"
#include "tests/unit.h"

static void sizes_notice_overflow(void **state)
{
	(void)state;
	assert_int_equal(n2d_mul(3, 5), 15);
	assert_int_equal(n2d_mul(N2D_TOO_LARGE / 2, 3), N2D_TOO_LARGE);
	assert_int_equal(n2d_mul(N2D_TOO_LARGE, 0), 0);
	assert_int_equal(n2d_add(N2D_TOO_LARGE, 1), N2D_TOO_LARGE);
	assert_int_equal(n2d_add(N2D_TOO_LARGE - 1, 1), N2D_TOO_LARGE);
	assert_int_equal(n2d_round_up(65, 64), 128);
	assert_int_equal(n2d_floats((size_t)1 << 31, (size_t)1 << 31, 16), N2D_TOO_LARGE);
	/* 8300 * 16 * 128 * 257 elements pass 2^31: the size is right, not wrapped to 32 bits. */
	assert_int_equal(n2d_floats(8300 * (size_t)16, 128, 257), (size_t)4368588800u);
}

static void arena_refuses_what_does_not_fit(void **state)
{
	(void)state;
	struct n2d_arena a;
	assert_int_equal(n2d_arena_init(&a, 1000), 0);
	char *p = n2d_arena_get(&a, 10), *q = n2d_arena_get(&a, 10);
	assert_int_equal(q - p, N2D_ALIGN);
	assert_int_equal((uintptr_t)p % N2D_ALIGN, 0);
	memset(a.base, 0xab, a.size);
	n2d_arena_touch(&a);
	for (size_t i = 0; i < a.size; i++)
		assert_int_equal((unsigned char)a.base[i], 0xab);
	assert_null(n2d_arena_get(&a, 1 << 20));
	assert_null(n2d_arena_get(&a, N2D_TOO_LARGE));
	assert_null(n2d_arena_floats(&a, N2D_TOO_LARGE / 2));
	n2d_arena_free(&a);
	assert_int_equal(n2d_arena_init(&a, N2D_TOO_LARGE), -1);
	/* What the system would grant and then kill for. */
	size_t available = n2d_memory_available();
	assert_true(available > 1 << 20);
	if (available < SIZE_MAX / 4) {
		assert_int_equal(n2d_arena_init(&a, 2 * available), -1);
		assert_non_null(strstr(n2d_error_text(), "are available"));
	}
}

/* Known answers of the generator's authors (Random123, kat_vectors). */
static void philox_known_answers(void **state)
{
	(void)state;
	static const uint32_t v[3][10] = {
		{0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
		{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
	};
	for (int i = 0; i < 3; i++) {
		uint32_t out[4];
		n2d_philox(out, v[i], v[i] + 4);
		assert_memory_equal(out, v[i] + 6, sizeof out);
	}
}

static void rng_below_stays_below(void **state)
{
	(void)state;
	struct n2d_rng r;
	size_t seen[7] = {0};
	n2d_rng_init(&r, 7, 3);
	for (int i = 0; i < 70000; i++)
		seen[n2d_rng_below(&r, 7)]++;
	for (int i = 0; i < 7; i++) /* 10000 each, standard deviation 93 */
		assert_in_range(seen[i], 9500, 10500);
}

static void mark(void *arg, size_t task, int thread)
{
	int *done = arg;
	done[task]++;
	assert_true(thread >= 0);
}

static void meet(void *arg, int thread, int threads)
{
	int *sum = arg;
	for (int step = 0; step < 100; step++) {
		if (step % threads == thread)
			sum[0]++;
		n2d_barrier();
	}
}

static void threads_do_every_task_once(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 3; threads++) {
		struct n2d_ctx ctx;
		int done[101] = {0}, sum = 0;
		assert_int_equal(n2d_ctx_init(&ctx, "scalar", threads), 0);
		n2d_parallel(&ctx, 101, mark, done);
		for (int i = 0; i < 101; i++)
			assert_int_equal(done[i], 1);
		n2d_team(&ctx, meet, &sum);
		assert_int_equal(sum, 100);
		n2d_ctx_free(&ctx);
	}
}

/* Denormals as results, and as operands (some processors flush only where both are asked for). */
static int flushes(void)
{
	volatile float tiny = 0x1p-126f, half = 0.5f, denormal = 0x1p-130f, big = 0x1p100f;
	return tiny * half == 0 && denormal * big == 0;
}

struct arrivals {
	int threads, came, flushed[3], begun[3];
};

/* A task that waits until every thread has one: none can do two. */
static void arrive(void *arg, size_t task, int thread)
{
	struct arrivals *a = arg;
	time_t start = time(NULL);
	(void)task;
	a->flushed[thread] += flushes();
	__atomic_add_fetch(&a->came, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&a->came, __ATOMIC_SEQ_CST) < a->threads && time(NULL) - start < 60)
		sched_yield();
}

static void arrive_in_team(void *arg, int thread, int threads)
{
	(void)threads;
	arrive(arg, 0, thread);
}

/* A worker that does not flush makes a step a hundred times slower once activations or moments decay; one that leaves its
 * mode behind changes what the caller computes. */
static void every_thread_flushes_denormals(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 3; threads++) {
		struct n2d_ctx ctx;
		struct arrivals tasks = {0}, team = {0};
		assert_int_equal(n2d_ctx_init(&ctx, "scalar", threads), 0);
		tasks.threads = team.threads = ctx.threads; /* 1 without OpenMP */
		n2d_parallel(&ctx, (size_t)ctx.threads, arrive, &tasks);
		assert_false(flushes());
		n2d_team(&ctx, arrive_in_team, &team);
		assert_false(flushes());
		for (int t = 0; t < ctx.threads; t++)
			assert_true(tasks.flushed[t] == 1 && team.flushed[t] == 1);
		uint64_t mode = n2d_fpenv_flush(); /* a caller's own mode stays too */
		n2d_parallel(&ctx, 1, mark, (int[1]){0});
		assert_true(flushes());
		n2d_fpenv_restore(mode);
		n2d_ctx_free(&ctx);
	}
}

/* The first task waits for all others, which somebody must take out of its thread's share. */
static void wait_for_others(void *arg, size_t task, int thread)
{
	struct arrivals *a = arg;
	time_t start = time(NULL);
	(void)thread;
	__atomic_add_fetch(&a->came, 1, __ATOMIC_SEQ_CST);
	while (!task && __atomic_load_n(&a->came, __ATOMIC_SEQ_CST) < a->threads && time(NULL) - start < 20)
		sched_yield();
	if (!task)
		a->begun[0] = __atomic_load_n(&a->came, __ATOMIC_SEQ_CST);
}

static void threads_help_each_other(void **state)
{
	(void)state;
	for (int threads = 2; threads <= 3; threads++) {
		struct n2d_ctx ctx;
		struct arrivals a = {.threads = 40};
		assert_int_equal(n2d_ctx_init(&ctx, "scalar", threads), 0);
		if (ctx.threads > 1) {
			n2d_parallel(&ctx, 40, wait_for_others, &a);
			assert_int_equal(a.begun[0], 40);
		}
		n2d_ctx_free(&ctx);
	}
}

/* The first task of each share waits until every share has been begun. */
static void begin(void *arg, size_t task, int thread)
{
	struct arrivals *a = arg;
	if (task % 10 == 0) {
		a->begun[task / 10] = thread;
		arrive(arg, task, thread);
	}
}

static void threads_begin_with_their_share(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 3; threads++) {
		struct n2d_ctx ctx;
		struct arrivals a = {0};
		assert_int_equal(n2d_ctx_init(&ctx, "scalar", threads), 0);
		a.threads = ctx.threads;
		n2d_parallel(&ctx, 10 * (size_t)ctx.threads, begin, &a);
		for (int t = 0; t < ctx.threads; t++)
			assert_int_equal(a.begun[t], t);
		n2d_ctx_free(&ctx);
	}
}

/* ---- beside */

struct pieces {
	int left, done, at_work, out_of_order;
	int tasks[64];
};

static int pieces_wait(void *arg) { return ((struct pieces *)arg)->left > 0; }

static void one_piece(void *arg)
{
	struct pieces *p = arg;
	p->out_of_order += __atomic_exchange_n(&p->at_work, 1, __ATOMIC_SEQ_CST);
	sched_yield(); /* another thread that would come, comes */
	p->out_of_order += p->left-- + p->done++ != 1000;
	__atomic_store_n(&p->at_work, 0, __ATOMIC_SEQ_CST);
}

static void count_task(void *arg, size_t task, int thread)
{
	(void)thread;
	__atomic_add_fetch(&((struct pieces *)arg)->tasks[task], 1, __ATOMIC_SEQ_CST);
	sched_yield();
}

/* One thread does them, one after the other, beside tasks that are all done once; and none beside others, or with one thread. */
static void pieces_are_done_beside_tasks(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 3; threads++) {
		struct n2d_ctx ctx;
		struct pieces p = {.left = 1000};
		const struct n2d_beside beside = {pieces_wait, one_piece, &p};
		assert_int_equal(n2d_ctx_init(&ctx, "scalar", threads), 0);
		ctx.beside = &beside;
		n2d_parallel(&ctx, 64, count_task, &p);
		assert_int_equal(p.done, 0);
		memset(p.tasks, 0, sizeof p.tasks);
		assert_int_equal(n2d_beside_waits(&ctx), ctx.threads > 1);
		time_t start = time(NULL);
		for (int i = 1; i < 3 || (ctx.threads > 1 && p.left && time(NULL) - start < 60); i++) {
			n2d_parallel_beside(&ctx, 64, count_task, &p);
			for (int k = 0; k < 64; k++)
				assert_int_equal(p.tasks[k], i);
		}
		assert_int_equal(p.done, ctx.threads > 1 ? 1000 : 0);
		assert_int_equal(p.out_of_order, 0);
		assert_int_equal(n2d_beside_waits(&ctx), 0);
		n2d_ctx_free(&ctx);
	}
}

/* What a message quotes of a file is data, not lines of its own. */
static void an_error_is_one_line(void **state)
{
	(void)state;
	assert_int_equal(n2d_error("%s: '%s'", "a\nb", "\t\x1b[31m\x7f\303\251~ "), -1);
	assert_string_equal(n2d_error_text(), "a?b: '??[31m?\303\251~ '");
}

static void context_names_what_can_be_used(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	assert_int_equal(n2d_ctx_init(&ctx, "sse9", 1), -1);
	assert_non_null(strstr(n2d_error_text(), "sse9"));
	assert_non_null(strstr(n2d_error_text(), "scalar"));
	assert_int_equal(n2d_ctx_init(&ctx, "scalar", -1), -1);
}

/* Pages that were written count, in bytes. */
static void memory_peak_counts_what_was_held(void **state)
{
	(void)state;
	const size_t size = (size_t)64 << 20;
	volatile char *p = malloc(size);
	assert_non_null((void *)p);
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	free((void *)p);
	assert_in_range(n2d_memory_peak(), size, size << 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_notice_overflow),
		cmocka_unit_test(an_error_is_one_line),
		cmocka_unit_test(arena_refuses_what_does_not_fit),
		cmocka_unit_test(philox_known_answers),
		cmocka_unit_test(rng_below_stays_below),
		cmocka_unit_test(threads_do_every_task_once),
		cmocka_unit_test(every_thread_flushes_denormals),
		cmocka_unit_test(threads_help_each_other),
		cmocka_unit_test(threads_begin_with_their_share),
		cmocka_unit_test(pieces_are_done_beside_tasks),
		cmocka_unit_test(context_names_what_can_be_used),
		cmocka_unit_test(memory_peak_counts_what_was_held),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
