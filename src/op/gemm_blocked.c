/* The blocked matrix product.
 *
 * C is cut into tiles of mr x nr (registers, the kernel gemm_tile). A panel of B, nr columns wide and at most kc rows deep,
 * is used by all tiles of a block of rows; the block of A, packed, stays in the second-level cache meanwhile:
 *
 *	for each block of rows x block of columns (a task)
 *		for each kc rows of k: pack the block of A
 *			for each panel of B: for each tile of A: gemm_tile
 *
 * An operand that too few use to pay back its packing is read where it lies, if the caches keep it there.
 *
 * Since every element of C is one chain of multiply-adds in the order of k, whichever tile it is in
 * and however k is cut, blocking and threads may follow caches and processors without changing a bit. */
#include "op/gemm_blocked.h"

#include <stdint.h>

#include "base/size.h"
#include "base/threads.h"
#include "base/trace.h"

/* Below this many FLOPs (microseconds) starting threads costs more than it gives. */
#define SERIAL_FLOPS 5e5

/* Work that waits (n2d_parallel_beside) is done beside products of so many FLOPs a thread, a third of a millisecond and more. Each thread's part is then cut into so many,
 * by which the threads come out even again. */
#define BESIDE_FLOPS 8e7
#define BESIDE_CUTS 8

/* An element of A is used by N columns, one of B by M rows: by more than this, packing it costs nothing to speak of (2 %). */
#define PAID_BACK 1024

static size_t min(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

/* The part of one product with rows [k0, k1) and columns [n0, n1) of B, which are packed. */
struct pass {
	const struct n2d_ctx *ctx;
	const struct n2d_gemm *g;
	float *C;
	const float *A, *B;
	size_t row, panel; /* floats from a row of B to the next within a panel, and from panel to panel */
	size_t k0, k1, n0, n1;
	size_t kc; /* rows of k a step */
	int a_in_place; /* A is read where it lies */
	int b_fresh; /* B was packed just before */
	int beside;  /* something waits to be done beside it */
	size_t ranges, row_blocks, column_blocks; /* ranges of rows: row_blocks is a multiple of them */
};

/* Rows [first, end) of C. */
struct range {
	size_t first, end;
};

/* ---- block sizes */

/* Floats of a thread's block of A: somewhat less than half the second-level cache, which B and C pass through too. */
static size_t block_floats(const struct n2d_ctx *ctx)
{
	return min(ctx->cache.l2 / sizeof(float) * 7 / 16, ctx->pack_floats / 4);
}

/* Rows of k a step, evenly cut: a panel of B takes an eighth of the second-level cache. Longer steps
 * touch C less often, shorter ones let more rows use a panel before it is fetched again. */
static size_t step_rows(const struct n2d_ctx *ctx, size_t K)
{
	size_t most = ctx->cache.l2 / 8 / sizeof(float) / ctx->k->nr;
	most = min(most, block_floats(ctx) / ctx->k->mr);
	if (most < 256)
		most = 256;
	return K ? ceil_div(K, ceil_div(K, most)) : 0;
}

/* ---- operands in place */

/* Rows of k of matrices as wide as `stride` together that take half of the second-level cache. Few rows a step, and C is touched often: that is worse
 * than packing, but for a C of two tiles, which stays in the cache itself, where what is packed is hardly used. */
static size_t rows_in_place(const struct n2d_ctx *ctx, size_t M, size_t stride)
{
	size_t rows = ctx->cache.l2 / 2 / sizeof(float) / (stride ? stride : 1), least = M <= 2 * ctx->k->mr ? 32 : 256;
	return rows < least ? 0 : rows;
}

static size_t common_divisor(size_t a, size_t b) { return b ? common_divisor(b, a % b) : a; }

/* Rows of k of a panel of B whose lines find room in the second-level cache: `stride` floats apart, they come back to the same set after sets / divisor
 * rows, and a set has WAYS lines. What of them comes from farther away is fetched while the panel before is used (next_panel). Steps of fewer than LEAST rows
 * touch C too often. */
static size_t rows_apart(const struct n2d_ctx *ctx, size_t K, size_t stride)
{
	enum { LINE = 16, WAYS = 16, LEAST = 512 };
	size_t lines = ctx->cache.l2 / sizeof(float) / LINE, apart = stride < LINE ? 1 : stride / LINE;
	size_t rows = lines / common_divisor(apart, lines / WAYS);
	return rows < min(K, LEAST) ? 0 : rows;
}

/* A: what a tile reads of it must not fall into the same sets of the first-level cache, which repeat after 1024 floats. By rows, those are a
 * tile's few; transposed, a line of every k, which also costs more than a packed panel: it is left where it lies for few columns only. */
static int a_in_place(const struct n2d_gemm *g)
{
	return g->alpha == 1 && (g->ta ? g->N <= PAID_BACK / 8 && g->lda % 32 != 0 : g->N <= PAID_BACK && g->lda % 1024 != 0);
}

/* Rows of k a step when B is read in place, and A too if it is transposed and narrow (the gradient of a small weight matrix); 0: B is packed. */
static size_t b_in_place(const struct n2d_ctx *ctx, const struct n2d_gemm *g, int *a_in_place)
{
	if (g->tb || (g->M > 1 && (g->N % ctx->k->nr != 0 || g->M > PAID_BACK)))
		return 0;
	if (g->M == 1)
		return step_rows(ctx, g->K);
	size_t both = g->ta && g->alpha == 1 ? rows_in_place(ctx, g->M, n2d_add(g->lda, g->ldb)) : 0;
	*a_in_place |= both > 0;
	if (!both)
		both = g->M <= 2 * ctx->k->mr ? rows_in_place(ctx, g->M, g->ldb) : rows_apart(ctx, g->K, g->ldb);
	return min(both, step_rows(ctx, g->K));
}

static size_t range_tiles(struct range r, size_t mr) { return ceil_div(r.end - r.first, mr); }

/* First row of a range's tile i. All tiles have mr rows but the last two, which share what is left: 8 + 8 rather than 14 + 2. */
static size_t tile_row(struct range r, size_t mr, size_t i)
{
	size_t tiles = range_tiles(r, mr);
	if (i >= tiles)
		return r.end;
	if (i == 0 || i + 1 < tiles)
		return r.first + i * mr;
	size_t before = r.first + (tiles - 2) * mr;
	return before + ceil_div(r.end - before, 2);
}

static void divide(struct pass *p, int threads)
{
	size_t mr = p->ctx->k->mr, tiles = ceil_div(p->g->M, mr), panels = ceil_div(p->n1 - p->n0, p->ctx->k->nr);
	size_t most = p->kc ? block_floats(p->ctx) / (mr * p->kc) : tiles, n = (size_t)threads;
	double flops = 2.0 * (double)p->g->M * (double)(p->n1 - p->n0) * (double)(p->k1 - p->k0);
	p->row_blocks = ceil_div(tiles, most ? most : 1);
	p->ranges = p->column_blocks = 1;
	if (flops < SERIAL_FLOPS)
		n = 1;
	/* By columns, each thread packs all of A, by rows each reads all of B: many times larger, it is cut; or larger at all where it was just packed, since a
	 * thread finds in its own caches the columns that it packed, and in the others' the rest. Rows are cut as evenly as they go, not by whole tiles: of 512
	 * rows in tiles of 14, one of two threads would have 8 more than the other. */
	size_t wide = p->b_fresh ? ceil_div(p->g->M, p->ctx->k->nr) + 1 : 8 * tiles;
	p->beside = n > 1 && flops >= BESIDE_FLOPS * (double)n && n2d_beside_waits(p->ctx);
	size_t parts = p->beside ? BESIDE_CUTS * n : n;
	if ((tiles >= 4 * n && panels < wide) || panels < n) {
		p->row_blocks = min(tiles, ceil_div(p->row_blocks, parts) * parts);
		p->ranges = p->row_blocks % n ? 1 : n;
	} else {
		p->column_blocks = min(panels, parts);
	}
}

/* ---- one task */

/* Rows [row, last) of op(A). */
static void pack_rows(const struct pass *p, float *panel, size_t row, size_t last, size_t k, size_t kc)
{
	const struct n2d_kernels *kn = p->ctx->k;
	const struct n2d_gemm *g = p->g;
	if (g->ta)
		kn->gemm_pack_columns(panel, p->A + k * g->lda + row, g->alpha, kn->mr, 0, last - row, kc, g->lda);
	else
		kn->gemm_pack_rows(panel, p->A + row * g->lda + k, g->alpha, kn->mr, 0, last - row, kc, g->lda);
}

/* A range's tiles [t0, t1) of op(A). Those before its last two are full, and packed in one go. */
static void pack_tiles(const struct pass *p, float *packed, struct range r, size_t t0, size_t t1, size_t k, size_t kc)
{
	size_t mr = p->ctx->k->mr, tiles = range_tiles(r, mr), full = tiles < 2 ? 0 : min(tiles - 2, t1);
	if (t0 < full)
		pack_rows(p, packed, tile_row(r, mr, t0), tile_row(r, mr, full), k, kc);
	for (size_t t = t0 > full ? t0 : full; t < t1; t++)
		pack_rows(p, packed + (t - t0) * mr * kc, tile_row(r, mr, t), tile_row(r, mr, t + 1), k, kc);
}

/* What is done to the element at (row, column) and its right and lower neighbours after rows [.., k) of k. */
static const struct n2d_gemm_end *end_at(const struct pass *p, struct n2d_gemm_end *end, size_t row, size_t column, size_t k)
{
	const struct n2d_gemm *g = p->g;
	if (k < g->K || (!g->bias && !g->relu && !g->residual))
		return NULL;
	end->bias = g->bias ? g->bias + column : NULL;
	end->relu = g->relu;
	end->residual = g->residual ? g->residual + row * g->ldr + column : NULL;
	end->ldr = g->ldr;
	return end;
}

/* B from column n and row k on. */
static const float *b_at(const struct pass *p, size_t n, size_t k)
{
	return p->B + (n - p->n0) / p->ctx->k->nr * p->panel + (k - p->k0) * p->row;
}

/* A panel of B serves all tiles of a block of A before the next. Only where A is read in place by columns, a line of which serves two tiles at most, and the
 * panels together stay in the second-level cache, a tile takes all of them before the next. */
static int by_tiles(const struct pass *p, size_t columns, size_t kc)
{
	return kc && p->a_in_place && p->g->ta && p->row == p->ctx->k->nr && columns * kc <= p->ctx->cache.l2 / 2 / sizeof(float);
}

/* What a tile fetches while it is multiplied, so much for each k. */
struct ahead {
	const float *at;
	size_t step;
};

/* The next panel of B comes from memory, unless B stays in the cache: each of a block's tiles fetches its part, evenly, since more lines at a
 * time than the first cache waits for would hold the tile up. Where B lies in rows, a line of every row. */
static struct ahead next_panel(const struct pass *p, size_t n, size_t n1, size_t k, size_t kc, size_t tile, size_t tiles)
{
	enum { LINE = 16 };
	size_t nr = p->ctx->k->nr, packed = p->row == nr, step = packed ? ceil_div(nr, tiles) : LINE, from = tile * step;
	if (n + nr >= n1 || from >= nr)
		return (struct ahead){b_at(p, n, k), 0};
	const float *panel = b_at(p, n + nr, k);
	return packed ? (struct ahead){panel + from * kc, step} : (struct ahead){panel + from, p->row};
}

/* A read by columns lies in a line or two for every k, too far apart for the processor to fetch ahead by itself: the next tile's come in while this
 * one takes its first panel. Of two tiles' common line this tile has it. Then, where tiles are taken one by one, the next one's C. */
static struct ahead next_tile(const struct pass *p, struct range r, size_t tile, size_t panel, size_t k, size_t kc)
{
	const struct n2d_gemm *g = p->g;
	size_t mr = p->ctx->k->mr, row = tile_row(r, mr, tile + 1), end = tile_row(r, mr, tile + 2);
	if (panel == 0)
		return (struct ahead){p->A + k * g->lda + end - 1, g->lda};
	if (panel == 1 && g->ldc == g->N)
		return (struct ahead){p->C + row * g->ldc, ceil_div((end - row) * g->ldc, kc)};
	return (struct ahead){p->A, 0};
}

/* A range's tiles [t0, t1) by columns [n0, n1), rows [k, k + kc) of k. */
static void tiles_step(const struct pass *p, float *packed, struct range r, size_t t0, size_t t1, size_t n0, size_t n1, size_t k, size_t kc)
{
	const struct n2d_kernels *kn = p->ctx->k;
	const struct n2d_gemm *g = p->g;
	size_t mr = kn->mr, nr = kn->nr, ai = 1, ak = mr, tiles = t1 - t0, panels = ceil_div(n1 - n0, nr);
	int tile_first = by_tiles(p, n1 - n0, kc);
	if (p->a_in_place)
		ai = g->ta ? 1 : g->lda, ak = g->ta ? g->lda : 1;
	else
		pack_tiles(p, packed, r, t0, t1, k, kc);
	for (size_t i = 0; i < tiles * panels; i++) {
		size_t t = t0 + (tile_first ? i / panels : i % tiles), n = n0 + (tile_first ? i % panels : i / tiles) * nr;
		size_t row = tile_row(r, mr, t), m = tile_row(r, mr, t + 1) - row;
		const float *a = p->a_in_place ? p->A + row * ai + k * ak : packed + (t - t0) * mr * kc;
		struct ahead next = tile_first && t + 1 < t1 ? next_tile(p, r, t, (n - n0) / nr, k, kc) : next_panel(p, n, n1, k, kc, t - t0, tiles);
		struct n2d_gemm_end end;
		kn->gemm_tile(p->C + row * g->ldc + n, a, b_at(p, n, k), k ? 1 : g->beta, end_at(p, &end, row, n, k + kc), next.at, next.step, m,
			      min(nr, n1 - n), kc, ai, ak, p->row, g->ldc);
	}
}

/* The same for a product with one row. */
static void row_step(const struct pass *p, float *x, size_t n0, size_t n1, size_t k, size_t kc)
{
	const struct n2d_gemm *g = p->g;
	size_t lda = g->ta ? g->lda : 1;
	const float *a = p->A + k * lda;
	if (lda != 1 || g->alpha != 1) {
		for (size_t i = 0; i < kc; i++)
			x[i] = g->alpha * a[i * lda];
		a = x;
	}
	struct n2d_gemm_end end;
	p->ctx->k->gemv(p->C + n0, a, b_at(p, n0, k), k ? 1 : g->beta, end_at(p, &end, 0, n0, k + kc), n1 - n0, kc, p->row,
			p->panel);
}

static void block(void *arg, size_t task, int thread)
{
	const struct pass *p = arg;
	size_t nr = p->ctx->k->nr, panels = ceil_div(p->n1 - p->n0, nr), blocks = p->row_blocks / p->ranges;
	size_t b = task % p->row_blocks, c = task / p->row_blocks, i = b / blocks;
	struct range r = {n2d_cut(p->g->M, p->ranges, i), n2d_cut(p->g->M, p->ranges, i + 1)};
	size_t tiles = range_tiles(r, p->ctx->k->mr), t0 = n2d_cut(tiles, blocks, b % blocks), t1 = n2d_cut(tiles, blocks, b % blocks + 1);
	size_t n0 = p->n0 + n2d_cut(panels, p->column_blocks, c) * nr;
	size_t n1 = min(p->n1, p->n0 + n2d_cut(panels, p->column_blocks, c + 1) * nr);
	float *scratch = p->ctx->pack[thread];
	size_t k = p->k0;
	do { /* once also when K is 0: beta and the epilogue remain to be done */
		size_t kc = min(p->kc, p->k1 - k);
		if (p->g->M == 1)
			row_step(p, scratch, n0, n1, k, kc);
		else
			tiles_step(p, scratch, r, t0, t1, n0, n1, k, kc);
		k += kc;
	} while (k < p->k1);
}

static void run(struct pass *p, int threads)
{
	divide(p, threads);
	(p->beside ? n2d_parallel_beside : n2d_parallel)(p->ctx, p->row_blocks * p->column_blocks, block, p);
}

/* ---- packing B */

struct packing {
	const struct n2d_kernels *k;
	float *packed;
	const float *B;
	int tb, past;
	size_t K, N, ldb, chunk; /* panels a task */
};

static void pack_panels(void *arg, size_t task, int thread)
{
	(void)thread;
	const struct packing *p = arg;
	size_t nr = p->k->nr, n = task * p->chunk * nr, last = min(p->N, n + p->chunk * nr);
	if (n >= last)
		return;
	if (p->tb)
		p->k->gemm_pack_rows(p->packed + n * p->K, p->B + n * p->ldb, 1, nr, p->past, last - n, p->K, p->ldb);
	else
		p->k->gemm_pack_columns(p->packed + n * p->K, p->B + n, 1, nr, p->past, last - n, p->K, p->ldb);
}

static void pack(const struct n2d_ctx *ctx, int threads, int past, float *packed, int tb, size_t K, size_t N, const float *B, size_t ldb)
{
	size_t panels = ceil_div(N, ctx->k->nr);
	size_t tasks = threads == 1 || (double)K * (double)N < SERIAL_FLOPS / 8 ? 1 : min(panels, 8 * (size_t)threads);
	struct packing p = {ctx->k, packed, B, tb, past, K, N, ldb, ceil_div(panels, tasks ? tasks : 1)};
	n2d_parallel(ctx, tasks, pack_panels, &p);
}

size_t n2d_packed_floats(const struct n2d_ctx *ctx, size_t K, size_t N)
{
	return n2d_floats(n2d_round_up(N, ctx->k->nr), K, 1);
}

void n2d_pack(const struct n2d_ctx *ctx, float *packed, int tb, size_t K, size_t N, const float *B, size_t ldb)
{
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "pack", 0, 8.0 * (double)K * (double)N)) {
		n2d_trace_dim(&call, "K", K);
		n2d_trace_dim(&call, "N", N);
		n2d_trace_read(&call, B, tb ? N : K, tb ? K : N, ldb, N2D_ALL_ROWS);
		n2d_trace_write(&call, packed, 1, n2d_packed_floats(ctx, K, N), n2d_packed_floats(ctx, K, N));
	}
	pack(ctx, ctx->threads, ctx->past_caches && (uintptr_t)packed % 64 == 0, packed, tb, K, N, B, ldb);
	n2d_trace_close(ctx, &call);
}

/* ---- one product */

void n2d_product_packed(const struct n2d_ctx *ctx, int threads, const struct n2d_gemm *g, float *C, const float *A,
			const float *packed)
{
	size_t nr = ctx->k->nr;
	struct pass p = {.ctx = ctx, .g = g, .C = C, .A = A, .B = packed, .row = nr, .panel = g->K * nr, .k1 = g->K, .n1 = g->N,
			 .kc = step_rows(ctx, g->K), .a_in_place = a_in_place(g)};
	run(&p, threads);
}

/* B is packed kc rows by nc columns at a time into the caller's scratch, behind its own block of A. */
void n2d_product(const struct n2d_ctx *ctx, int threads, const struct n2d_gemm *g, float *C, const float *A, const float *B)
{
	struct pass p = {.ctx = ctx, .g = g, .C = C, .A = A, .B = B, .row = g->ldb, .panel = ctx->k->nr, .k1 = g->K, .n1 = g->N,
			 .a_in_place = a_in_place(g)};
	size_t nr = ctx->k->nr, N = g->N, kc = b_in_place(ctx, g, &p.a_in_place);
	if (kc) {
		p.kc = ceil_div(g->K, ceil_div(g->K, kc));
		run(&p, threads);
		return;
	}
	kc = step_rows(ctx, g->K);
	float *packed = ctx->pack[n2d_thread()] + block_floats(ctx);
	size_t most = kc ? (ctx->pack_floats - block_floats(ctx)) / kc / nr * nr : N;
	size_t nc = n2d_round_up(ceil_div(N, ceil_div(N, most)), nr);
	p.B = packed;
	p.b_fresh = 1;
	p.row = nr;
	for (p.n0 = 0; p.n0 < N; p.n0 += nc) {
		p.k0 = 0;
		p.n1 = min(N, p.n0 + nc);
		do {
			p.kc = min(kc, g->K - p.k0);
			p.k1 = p.k0 + p.kc;
			p.panel = p.kc * nr;
			pack(ctx, threads, 0, packed, g->tb, p.kc, p.n1 - p.n0, B + (g->tb ? p.n0 * g->ldb + p.k0 : p.k0 * g->ldb + p.n0),
			     g->ldb);
			run(&p, threads);
			p.k0 = p.k1;
		} while (p.k0 < g->K);
	}
}
