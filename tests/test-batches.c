/* Batches: their arrays, every pair once an epoch, the cheapest cuts, orders that depend on seed and epoch alone. */
#include "config.h"

#include "tests/unit.h"
#include "text/batches.h"

/* ---- corpora made of lengths; the words are all different */

static void corpus_of(struct n2d_corpus *c, size_t pairs, const size_t (*length)[N2D_SIDES])
{
	int32_t word = N2D_IDS_SPECIAL;
	memset(c, 0, sizeof *c);
	c->pairs = pairs;
	for (int side = 0; side < N2D_SIDES; side++) {
		size_t n = 0;
		c->start[side] = calloc(pairs + 1, sizeof **c->start);
		for (size_t i = 0; i < pairs; i++) {
			c->start[side][i + 1] = n += length[i][side];
			if (length[i][side] > c->longest[side])
				c->longest[side] = length[i][side];
		}
		c->id[side] = n ? malloc(n * sizeof **c->id) : NULL;
		for (size_t i = 0; i < pairs; i++)
			for (size_t k = c->start[side][i]; k < c->start[side][i + 1]; k++)
				c->id[side][k] = k + 1 < c->start[side][i + 1] ? word++ : N2D_ID_END;
	}
}

/* Lengths as of sentences and their translations: 1 to most, targets near the sources. */
static void random_corpus(struct n2d_corpus *c, struct n2d_rng *r, size_t pairs, uint32_t most)
{
	size_t(*length)[N2D_SIDES] = malloc(pairs * sizeof *length);
	for (size_t i = 0; i < pairs; i++) {
		uint32_t s = 1 + (n2d_rng_below(r, most) + n2d_rng_below(r, most)) / 2, t = s + n2d_rng_below(r, 1 + s / 2) - s / 4;
		length[i][N2D_SOURCE] = s;
		length[i][N2D_TARGET] = t > 1 ? t : 1;
	}
	corpus_of(c, pairs, (const size_t(*)[N2D_SIDES])length);
	free(length);
}

static void open_batches(struct n2d_batches *b, const struct n2d_corpus *c, size_t batch_tokens, uint64_t seed)
{
	if (n2d_batches_init(b, c, batch_tokens, 0, seed))
		fail_msg("%s", n2d_error_text());
}

/* ---- what a batch must be */

static void row_is(const int32_t *row, const int32_t *id, size_t n, size_t width, int32_t padding)
{
	for (size_t i = 0; i < width; i++)
		assert_int_equal(row[i], i < n ? id[i] : padding);
}

static void batch_is_whole(const struct n2d_batches *b, const struct n2d_batch *x, int *seen)
{
	const struct n2d_corpus *c = b->corpus;
	size_t S = 0, T = 0, src = 0, trg = 0;
	assert_true(x->B > 0);
	for (size_t r = 0; r < x->B; r++) {
		size_t pair = b->row[r], s = n2d_corpus_length(c, N2D_SOURCE, pair), t = n2d_corpus_length(c, N2D_TARGET, pair);
		const int32_t begin = N2D_ID_BEGIN, *target = c->id[N2D_TARGET] + (t ? c->start[N2D_TARGET][pair] : 0);
		assert_int_equal(seen[pair]++, 0);
		assert_int_equal(x->src_len[r], s);
		assert_int_equal(x->trg_len[r], t);
		row_is(x->src + r * x->S, c->id[N2D_SOURCE] + c->start[N2D_SOURCE][pair], s, x->S, N2D_ID_PAD);
		row_is(x->trg_out + r * x->T, target, t, x->T, -1);
		if (t) {
			row_is(x->trg_in + r * x->T, &begin, 1, 1, 0);
			row_is(x->trg_in + r * x->T + 1, target, t - 1, x->T - 1, N2D_ID_PAD);
		}
		S = s > S ? s : S;
		T = t > T ? t : T;
		src += s;
		trg += t;
	}
	assert_int_equal(x->S, S);
	assert_int_equal(x->T, T);
	assert_int_equal(x->src_tokens, src);
	assert_int_equal(x->trg_tokens, trg);
}

/* Every pair once; batches within the limit, each of a shape that was announced. */
static void epoch_is_whole(struct n2d_batches *b, size_t batch_tokens, uint64_t epoch)
{
	size_t pairs = b->corpus->pairs, src = 0, trg = 0;
	int *seen = calloc(pairs, sizeof *seen), *used = calloc(b->count, sizeof *used);
	for (size_t i = 0; i < b->count; i++) {
		struct n2d_batch x;
		n2d_batches_get(b, &x, epoch, i);
		batch_is_whole(b, &x, seen);
		assert_true(x.B * x.S <= batch_tokens && x.B * x.T <= batch_tokens);
		size_t k = 0;
		while (k < b->count && (used[k] || b->shape[k].B != x.B || b->shape[k].S != x.S || b->shape[k].T != x.T))
			k++;
		assert_true(k < b->count);
		used[k] = 1;
		src += x.B * x.S;
		trg += x.B * x.T;
	}
	for (size_t i = 0; i < pairs; i++)
		assert_int_equal(seen[i], 1);
	assert_int_equal(src, b->src_padded);
	assert_int_equal(trg, b->trg_padded);
	double tokens = (double)(b->corpus->start[0][pairs] + b->corpus->start[1][pairs]);
	assert_true(fabs(n2d_batches_padding(b) - (1 - tokens / (double)(src + trg))) < 1e-12);
	free(seen);
	free(used);
}

/* ---- tests */

static void a_batch_by_hand(void **state)
{
	(void)state;
	enum { PAD = N2D_ID_PAD, BEG = N2D_ID_BEGIN, END = N2D_ID_END };
	struct n2d_corpus c;
	struct n2d_batches b;
	struct n2d_batch x;
	corpus_of(&c, 3, (const size_t[][N2D_SIDES]){{3, 2}, {1, 3}, {2, 1}}); /* 4 5 . / 7 .   . / 8 9 .   6 . / . */
	open_batches(&b, &c, 100, 1);
	assert_int_equal(b.count, 1);
	n2d_batches_get(&b, &x, N2D_EPOCH_SORTED, 0);
	assert_memory_equal(b.row, ((uint32_t[]){2, 0, 1}), 3 * sizeof *b.row);
	assert_true(x.B == 3 && x.S == 3 && x.T == 3 && x.src_tokens == 6 && x.trg_tokens == 6);
	assert_memory_equal(x.src, ((int32_t[]){6, END, PAD, 4, 5, END, END, PAD, PAD}), 9 * sizeof *x.src);
	assert_memory_equal(x.trg_in, ((int32_t[]){BEG, PAD, PAD, BEG, 7, PAD, BEG, 8, 9}), 9 * sizeof *x.src);
	assert_memory_equal(x.trg_out, ((int32_t[]){END, -1, -1, 7, END, -1, 8, 9, END}), 9 * sizeof *x.src);
	assert_memory_equal(x.src_len, ((int32_t[]){2, 3, 1}), 3 * sizeof *x.src_len);
	assert_memory_equal(x.trg_len, ((int32_t[]){1, 2, 3}), 3 * sizeof *x.src_len);
	assert_true(fabs(n2d_batches_padding(&b) - 1. / 3) < 1e-12);
	n2d_batches_free(&b);
	n2d_corpus_free(&c);
}

static void epochs_have_every_pair_once(void **state)
{
	(void)state;
	static const size_t limits[] = {30, 31, 64, 100, 1000, 4096, 100000, SIZE_MAX};
	struct n2d_rng r;
	n2d_rng_init(&r, 3, 4);
	for (size_t k = 0; k < 40; k++) {
		struct n2d_corpus c;
		struct n2d_batches b;
		random_corpus(&c, &r, 1 + n2d_rng_below(&r, k % 8 ? 60 : 3000), k % 2 ? 20 : 4);
		open_batches(&b, &c, limits[k % 8], k);
		for (uint64_t epoch = 0; epoch < 3; epoch++)
			epoch_is_whole(&b, limits[k % 8], epoch);
		n2d_batches_free(&b);
		n2d_corpus_free(&c);
	}
}

static void batches_of_few_pairs(void **state)
{
	(void)state;
	struct n2d_rng r;
	n2d_rng_init(&r, 5, 6);
	for (size_t most = 1; most <= 9; most += 4) {
		struct n2d_corpus c;
		struct n2d_batches b;
		random_corpus(&c, &r, 500, 6);
		if (n2d_batches_init(&b, &c, 4096, most, 1))
			fail_msg("%s", n2d_error_text());
		epoch_is_whole(&b, 4096, 1);
		for (size_t i = 0; i < b.count; i++)
			assert_true(b.shape[i].B <= most);
		n2d_batches_free(&b);
		n2d_corpus_free(&c);
	}
}

static void odd_corpora(void **state)
{
	(void)state;
	enum { N = 100 };
	size_t empty[N][N2D_SIDES], alone[N][N2D_SIDES];
	for (size_t i = 0; i < N; i++) {
		empty[i][0] = empty[i][1] = 1;
		alone[i][0] = 1 + i % 7;
		alone[i][1] = 0;
	}
	const struct {
		size_t pairs;
		const size_t (*length)[N2D_SIDES];
		size_t batch_tokens, batches; /* 0: any number */
	} cases[] = {
		{1, empty, 1, 1}, {1, empty, 1000, 1}, {N, empty, 1, N}, {N, empty, 30, 4}, {N, empty, 100, 1}, {N, alone, 50, 0},
		{1, (const size_t[][N2D_SIDES]){{1, 9}}, 9, 1}, {1, (const size_t[][N2D_SIDES]){{1000001, 1}}, 1000001, 1},
		{3, (const size_t[][N2D_SIDES]){{2, 2}, {1000001, 1}, {2, 2}}, 1000001, 2},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct n2d_corpus c;
		struct n2d_batches b;
		corpus_of(&c, cases[k].pairs, cases[k].length);
		open_batches(&b, &c, cases[k].batch_tokens, 1);
		epoch_is_whole(&b, cases[k].batch_tokens, 1);
		if (cases[k].batches)
			assert_int_equal(b.count, cases[k].batches);
		n2d_batches_free(&b);
		n2d_corpus_free(&c);
	}
}

/* The cheapest of all ways to cut, by trying every one: sorted as the header says, found here by selection. */
static size_t cheapest(const struct n2d_corpus *c, size_t batch_tokens)
{
	size_t length[12][N2D_SIDES], n = c->pairs, best = SIZE_MAX;
	for (size_t i = 0; i < n; i++)
		for (int side = 0; side < N2D_SIDES; side++)
			length[i][side] = n2d_corpus_length(c, (enum n2d_side)side, i);
#define LONGER(i) (length[i][0] > length[i][1] ? length[i][0] : length[i][1])
#define KEY(i) (100 * LONGER(i) + 50 + (LONGER(i) % 2 ? length[i][1] - length[i][0] : length[i][0] - length[i][1]))
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (KEY(k) < KEY(i))
				for (int side = 0; side < N2D_SIDES; side++) {
					size_t swap = length[i][side];
					length[i][side] = length[k][side];
					length[k][side] = swap;
				}
	for (unsigned cuts = 0; cuts < 1u << (n - 1); cuts++) {
		size_t cost = 0, B = 0, S = 0, T = 0;
		for (size_t i = 0; i < n; i++) {
			B++;
			S = length[i][0] > S ? length[i][0] : S;
			T = length[i][1] > T ? length[i][1] : T;
			if (B * S > batch_tokens || B * T > batch_tokens)
				cost = SIZE_MAX / 2;
			if (i + 1 == n || cuts >> i & 1) {
				cost += B * (S + T) + batch_tokens / 10;
				B = S = T = 0;
			}
		}
		best = cost < best ? cost : best;
	}
	return best;
}

static void cuts_are_the_cheapest(void **state)
{
	(void)state;
	struct n2d_rng r;
	n2d_rng_init(&r, 5, 6);
	for (int k = 0; k < 300; k++) {
		struct n2d_corpus c;
		struct n2d_batches b;
		size_t batch_tokens = 12 + n2d_rng_below(&r, 50); /* below 64: every pair is a piece of its own */
		random_corpus(&c, &r, 1 + n2d_rng_below(&r, 11), 8);
		open_batches(&b, &c, batch_tokens, 1);
		assert_int_equal(b.src_padded + b.trg_padded + b.count * (batch_tokens / 10), cheapest(&c, batch_tokens));
		n2d_batches_free(&b);
		n2d_corpus_free(&c);
	}
}

/* Batch i of epoch e, made first of all and made after others, is the same. */
static void batches_can_be_made_in_any_order(void **state)
{
	(void)state;
	struct n2d_rng r;
	struct n2d_corpus c;
	struct n2d_batches first, again;
	n2d_rng_init(&r, 7, 8);
	random_corpus(&c, &r, 500, 12);
	open_batches(&first, &c, 300, 9);
	for (uint64_t epoch = 0; epoch < 4; epoch++)
		for (size_t i = 0; i < first.count; i++) {
			struct n2d_batch x, y;
			n2d_batches_get(&first, &x, epoch, i);
			if (i % 3 == 0)
				open_batches(&again, &c, 300, 9);
			else
				n2d_batches_get(&again, &y, (epoch + i % 2) % 4, first.count - 1 - i);
			n2d_batches_get(&again, &y, epoch, i);
			assert_true(x.B == y.B && x.S == y.S && x.T == y.T);
			assert_memory_equal(x.src, y.src, x.B * x.S * sizeof *x.src);
			assert_memory_equal(x.trg_out, y.trg_out, x.B * x.T * sizeof *x.src);
			assert_memory_equal(first.row, again.row, x.B * sizeof *first.row);
			if (i % 3 == 2 || i + 1 == first.count)
				n2d_batches_free(&again);
		}
	n2d_batches_free(&first);
	n2d_corpus_free(&c);
}

/* Seven pairs of one length, 1 + 2 + 2 + 2: permutations from an implementation of Philox and of the shuffle by itself (in Python). */
static void orders_are_the_same_everywhere(void **state)
{
	(void)state;
	static const struct {
		uint64_t seed, epoch;
		uint32_t order[7], turn[4];
	} cases[] = {
		{1, 1, {2, 5, 4, 6, 0, 3, 1}, {0, 2, 3, 1}},
		{1, 2, {3, 4, 6, 1, 5, 2, 0}, {3, 1, 2, 0}},
		{2, 1, {1, 4, 5, 2, 6, 3, 0}, {2, 1, 3, 0}},
		{(uint64_t)1 << 40, 1, {1, 2, 5, 6, 4, 0, 3}, {1, 3, 0, 2}},
		{5, N2D_EPOCH_SORTED, {0, 1, 2, 3, 4, 5, 6}, {0, 1, 2, 3}},
	};
	struct n2d_corpus c;
	corpus_of(&c, 7, (const size_t[][N2D_SIDES]){{3, 2}, {3, 2}, {3, 2}, {3, 2}, {3, 2}, {3, 2}, {3, 2}});
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct n2d_batches b;
		struct n2d_batch x;
		open_batches(&b, &c, 6, cases[k].seed);
		assert_int_equal(b.count, 4);
		for (size_t i = 0; i < 4; i++) {
			size_t batch = cases[k].turn[i], begin = batch ? 2 * batch - 1 : 0;
			n2d_batches_get(&b, &x, cases[k].epoch, i);
			assert_int_equal(x.B, batch ? 2 : 1);
			assert_memory_equal(b.row, cases[k].order + begin, x.B * sizeof *b.row);
		}
		n2d_batches_free(&b);
	}
	n2d_corpus_free(&c);
}

/* Equally long pairs meet in every order: of 600 epochs each of the 6 has 100, with a standard deviation of 9. */
static void equally_long_pairs_are_shuffled(void **state)
{
	(void)state;
	struct n2d_corpus c;
	struct n2d_batches b;
	struct n2d_batch x;
	int count[27] = {0};
	corpus_of(&c, 5, (const size_t[][N2D_SIDES]){{4, 4}, {2, 3}, {4, 4}, {4, 4}, {3, 2}});
	open_batches(&b, &c, 100, 1);
	assert_int_equal(b.count, 1);
	for (uint64_t epoch = 1; epoch <= 600; epoch++) {
		static const int nth[] = {0, -1, 1, 2, -1};
		n2d_batches_get(&b, &x, epoch, 0);
		assert_memory_equal(b.row, ((uint32_t[]){4, 1}), 2 * sizeof *b.row); /* not as long as each other: they stay */
		count[9 * nth[b.row[2]] + 3 * nth[b.row[3]] + nth[b.row[4]]]++;
	}
	for (int i = 0; i < 27; i++) {
		int order = i / 9 != i / 3 % 3 && i / 9 != i % 3 && i / 3 % 3 != i % 3;
		assert_in_range(count[i], order ? 55 : 0, order ? 145 : 0);
	}
	n2d_batches_free(&b);
	n2d_corpus_free(&c);
}

static void what_cannot_be_is_said(void **state)
{
	(void)state;
	struct n2d_corpus c;
	struct n2d_batches b;
	corpus_of(&c, 2, (const size_t[][N2D_SIDES]){{3, 11}, {2, 2}});
	assert_int_equal(n2d_batches_init(&b, &c, 10, 0, 1), -1);
	assert_non_null(strstr(n2d_error_text(), "11 tokens"));
	n2d_batches_free(&b);
	c.pairs = 0;
	assert_int_equal(n2d_batches_init(&b, &c, 100, 0, 1), -1);
	n2d_batches_free(&b);
	c.pairs = UINT32_MAX; /* nothing of it may be touched */
	c.longest[N2D_SOURCE] = INT32_MAX;
	assert_int_equal(n2d_batches_init(&b, &c, SIZE_MAX, 0, 1), -1);
	assert_non_null(strstr(n2d_error_text(), "4294967295 sentences of up to 2147483647 tokens"));
	n2d_batches_free(&b);
	n2d_corpus_free(&c);
}

/* The words of Multi30k, where N2D_DATA says it is: padding below 3 %. */
static void real_sentences_need_little_padding(void **state)
{
	(void)state;
	char path[N2D_SIDES][512];
	const char *data = getenv("N2D_DATA");
	if (!data)
		skip();
	snprintf(path[0], sizeof *path, "%s/multi30k/train.en", data);
	snprintf(path[1], sizeof *path, "%s/multi30k/train.de", data);
	struct n2d_vocab v;
	struct n2d_corpus c;
	const struct n2d_coder coder = {.vocab = &v};
	assert_int_equal(n2d_vocab_init(&v, 0), 0);
	assert_int_equal(n2d_corpus_init(&c, &coder, &coder, 0), 0);
	if (n2d_corpus_read(&c, (const char *const[]){path[0], path[1]}))
		fail_msg("%s", n2d_error_text());
	for (size_t batch_tokens = 4096; batch_tokens <= 8192; batch_tokens *= 2) {
		struct n2d_batches b;
		open_batches(&b, &c, batch_tokens, 1);
		epoch_is_whole(&b, batch_tokens, 1);
		assert_true(n2d_batches_padding(&b) < 0.03);
		n2d_batches_free(&b);
	}
	n2d_corpus_free(&c);
	n2d_vocab_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_by_hand),
		cmocka_unit_test(epochs_have_every_pair_once),
		cmocka_unit_test(batches_of_few_pairs),
		cmocka_unit_test(odd_corpora),
		cmocka_unit_test(cuts_are_the_cheapest),
		cmocka_unit_test(batches_can_be_made_in_any_order),
		cmocka_unit_test(orders_are_the_same_everywhere),
		cmocka_unit_test(equally_long_pairs_are_shuffled),
		cmocka_unit_test(what_cannot_be_is_said),
		cmocka_unit_test(real_sentences_need_little_padding),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
