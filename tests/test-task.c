/* Tasks: the number words, the targets, the splits, the files. */
#include "config.h"

#include <unistd.h>

#include "base/file.h"
#include "tests/unit.h"
#include "text/numbers.h"
#include "text/task.h"

/* ---- words */

static void words_of_tricky_numbers(void **state)
{
	(void)state;
	static const struct {
		uint32_t n;
		const char *english, *german;
	} words[] = {
		{0, "zero", "null"},
		{1, "one", "eins"},
		{11, "eleven", "elf"},
		{12, "twelve", "zwölf"},
		{16, "sixteen", "sechzehn"},
		{17, "seventeen", "siebzehn"},
		{20, "twenty", "zwanzig"},
		{21, "twenty-one", "einundzwanzig"},
		{30, "thirty", "dreißig"},
		{31, "thirty-one", "einunddreißig"},
		{60, "sixty", "sechzig"},
		{70, "seventy", "siebzig"},
		{100, "one hundred", "einhundert"},
		{101, "one hundred one", "einhunderteins"},
		{110, "one hundred ten", "einhundertzehn"},
		{121, "one hundred twenty-one", "einhunderteinundzwanzig"},
		{1000, "one thousand", "eintausend"},
		{1001, "one thousand one", "eintausendeins"},
		{1100, "one thousand one hundred", "eintausendeinhundert"},
		{2016, "two thousand sixteen", "zweitausendsechzehn"},
		{21001, "twenty-one thousand one", "einundzwanzigtausendeins"},
		{100000, "one hundred thousand", "einhunderttausend"},
		{101000, "one hundred one thousand", "einhunderteintausend"},
		{101101, "one hundred one thousand one hundred one", "einhunderteintausendeinhunderteins"},
		{777777, "seven hundred seventy-seven thousand seven hundred seventy-seven",
		 "siebenhundertsiebenundsiebzigtausendsiebenhundertsiebenundsiebzig"},
		{999999, "nine hundred ninety-nine thousand nine hundred ninety-nine",
		 "neunhundertneunundneunzigtausendneunhundertneunundneunzig"},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		char text[N2D_NUMBER_TEXT];
		n2d_number_english(text, words[i].n);
		assert_string_equal(text, words[i].english);
		n2d_number_german(text, words[i].n);
		assert_string_equal(text, words[i].german);
	}
}

/* Parsers that share nothing with the writer: the words of 1 to 99 by heart, then the longest that fits. */
static char english99[100][24], german99[100][24];

static void learn_words(void)
{
	static const char *const e[] = {"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
	static const char *const g[] = {"", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"};
	static const char *const teens =
		"ten zehn eleven elf twelve zwölf thirteen dreizehn fourteen vierzehn fifteen fünfzehn sixteen sechzehn "
		"seventeen siebzehn eighteen achtzehn nineteen neunzehn ";
	static const char *const tens =
		"twenty zwanzig thirty dreißig forty vierzig fifty fünfzig sixty sechzig seventy siebzig eighty achtzig ninety neunzig ";
	const char *p = teens;
	int used;
	for (int i = 1; i < 10; i++) {
		strcpy(english99[i], e[i]);
		strcpy(german99[i], g[i]);
	}
	for (int i = 10; i < 20; i++, p += used)
		assert_int_equal(sscanf(p, "%23s %23s %n", english99[i], german99[i], &used), 2);
	p = tens;
	for (int i = 20; i < 100; i += 10, p += used) {
		char english[12], german[12];
		assert_int_equal(sscanf(p, "%11s %11s %n", english, german, &used), 2);
		for (int k = 0; k < 10; k++) {
			snprintf(english99[i + k], 24, "%s%s%s", english, k ? "-" : "", e[k]);
			snprintf(german99[i + k], 24, "%s%s%s", g[k], k ? "und" : "", german);
		}
	}
}

/* The number from 1 to 99 of the longest word *p starts with; 0: none. Steps over it. */
static long longest(const char **p, char words[100][24], int to)
{
	long best = 0;
	for (long i = 1; i < to; i++)
		if (strncmp(*p, words[i], strlen(words[i])) == 0 && strlen(words[i]) > strlen(words[best]))
			best = i;
	*p += strlen(words[best]);
	return best;
}

static int eat(const char **p, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(*p, word, n) != 0)
		return 0;
	*p += n;
	return 1;
}

static long english_part(const char **p)
{
	const char *q = *p;
	long h = longest(&q, english99, 10);
	if (!h || !eat(&q, " hundred"))
		return longest(p, english99, 100);
	*p = q;
	const char *rest = q;
	long n = eat(&rest, " ") ? longest(&rest, english99, 100) : 0; /* " thousand" is none */
	if (n)
		*p = rest;
	return 100 * h + n;
}

static long read_english(const char *p)
{
	if (strcmp(p, "zero") == 0)
		return 0;
	long n = english_part(&p);
	if (eat(&p, " thousand")) {
		n *= 1000;
		if (eat(&p, " ")) {
			long low = english_part(&p);
			n = low ? n + low : -1;
		}
	}
	return *p || !n ? -1 : n;
}

static long german_part(const char **p)
{
	const char *q = *p;
	long h = longest(&q, german99, 10);
	if (!h || !eat(&q, "hundert"))
		return longest(p, german99, 100);
	*p = q;
	return 100 * h + longest(p, german99, 100);
}

static long read_german(const char *p)
{
	if (strcmp(p, "null") == 0)
		return 0;
	long n = german_part(&p), low;
	if (eat(&p, "tausend")) {
		n *= 1000;
		if (!*p)
			return n ? n : -1;
		n += low = german_part(&p);
	} else
		low = n;
	if (low % 100 == 1 && !eat(&p, "s"))
		return -1;
	return *p || !low ? -1 : n;
}

static void every_number_reads_back(void **state)
{
	(void)state;
	learn_words();
	assert_int_equal(read_english("one hundred one"), 101); /* and the parsers refuse what is not one */
	assert_int_equal(read_english("one hundred and one"), -1);
	assert_int_equal(read_english("one hundred "), -1);
	assert_int_equal(read_english("one  hundred"), -1);
	assert_int_equal(read_english("twenty one"), -1);
	assert_int_equal(read_german("einhundertein"), -1);
	assert_int_equal(read_german("einstausend"), -1);
	assert_int_equal(read_german("tausend"), -1);
	for (uint32_t n = 0; n < N2D_NUMBER_LIMIT; n++) {
		char english[N2D_NUMBER_TEXT], german[N2D_NUMBER_TEXT];
		n2d_number_english(english, n);
		n2d_number_german(german, n);
		if (read_english(english) != n || read_german(german) != n)
			fail_msg("%u: '%s' reads as %ld, '%s' as %ld", n, english, read_english(english), german, read_german(german));
	}
}

/* ---- sequences */

static struct n2d_task open_task(struct n2d_task_config c)
{
	struct n2d_task t;
	if (n2d_task_open(&t, &c))
		fail_msg("%s", n2d_error_text());
	return t;
}

/* Symbols of a line into x; ids or letters. */
static size_t symbols(const char *line, int ids, long *x)
{
	size_t n = 0;
	for (const char *p = line; *p; p += *p == ' ') {
		char *end = (char *)p + 1;
		x[n++] = ids ? strtol(p, &end, 10) : *p - 'a';
		p = end;
		assert_true(!*p || (*p == ' ' && p[1]));
	}
	return n;
}

static int by_size(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;
	return (x > y) - (x < y);
}

static void targets_are_right(void **state)
{
	(void)state;
	for (int kind = N2D_TASK_COPY; kind <= N2D_TASK_SORT; kind++)
		for (int ids = 0; ids < 2; ids++) {
			struct n2d_task_config c = n2d_task_defaults((enum n2d_task_kind)kind);
			int lengths[10] = {0}, seen[300] = {0};
			c.ids = ids;
			c.vocab = ids ? 300 : 26;
			c.min_length = 2;
			c.max_length = 9;
			struct n2d_task t = open_task(c);
			for (int line = 0; line < 2000; line++) {
				long x[16], y[16];
				assert_int_equal(n2d_task_next(&t), 0);
				size_t n = symbols(t.source, ids, x);
				assert_in_range(n, 2, 9);
				assert_int_equal(symbols(t.target, ids, y), n);
				lengths[n]++;
				if (kind == N2D_TASK_SORT)
					qsort(x, n, sizeof *x, by_size);
				for (size_t i = 0; i < n; i++) {
					assert_in_range(x[i], 0, c.vocab - 1);
					assert_int_equal(y[i], x[kind == N2D_TASK_REVERSE ? n - 1 - i : i]);
					seen[x[i]]++;
				}
			}
			for (int n = 2; n <= 9; n++) /* 250 each, standard deviation 15 */
				assert_in_range(lengths[n], 175, 325);
			for (uint32_t i = 0; i < c.vocab; i++)
				assert_true(seen[i] > 0);
			n2d_task_close(&t);
		}
}

static void the_seed_decides(void **state)
{
	(void)state;
	struct n2d_task_config c = n2d_task_defaults(N2D_TASK_COPY), d = c;
	d.seed = 2;
	struct n2d_task a = open_task(c), b = open_task(c), other = open_task(d);
	int same = 0;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(n2d_task_next(&a) | n2d_task_next(&b) | n2d_task_next(&other), 0);
		assert_string_equal(a.source, b.source);
		same += strcmp(a.source, other.source) == 0;
	}
	assert_in_range(same, 0, 10); /* a short line may come by chance */
	n2d_task_close(&a);
	n2d_task_close(&b);
	n2d_task_close(&other);
}

/* ---- splits */

/* 3 symbols, length up to 5: index of a sequence among the 363. */
static size_t index_of(const char *line)
{
	long x[8];
	size_t n = symbols(line, 0, x), i = 0;
	while (n--)
		i = 3 * i + (size_t)x[n] + 1;
	return i;
}

static void splits_do_not_overlap(void **state)
{
	(void)state;
	static const struct {
		int least, most;
	} share[] = {{300, 345}, {6, 32}, {6, 32}}; /* of 363 */
	int in[3][400] = {{0}}, all = 0;
	for (int split = 0; split < 3; split++)
		for (uint64_t seed = 1; seed < 4; seed++) {
			struct n2d_task_config c = n2d_task_defaults(N2D_TASK_SORT);
			c.split = (enum n2d_split)split;
			c.vocab = 3;
			c.max_length = 5;
			c.seed = seed;
			struct n2d_task t = open_task(c);
			for (int line = 0; line < 6000; line++) {
				assert_int_equal(n2d_task_next(&t), 0);
				in[split][index_of(t.source)] = 1;
			}
			n2d_task_close(&t);
		}
	for (int split = 0; split < 3; split++) {
		int n = 0;
		for (size_t i = 0; i < 400; i++)
			n += in[split][i];
		assert_in_range(n, share[split].least, share[split].most);
		all += n;
	}
	for (size_t i = 0; i < 400; i++)
		assert_true(in[0][i] + in[1][i] + in[2][i] <= 1);
	assert_int_equal(all, 363);
}

/* "t w o _ h ..." back to words. */
static void join(char *to, const char *line)
{
	for (size_t i = 0; line[i]; i++) {
		if (line[i] == ' ') {
			assert_true(i && line[i - 1] != ' ' && line[i + 1] && line[i + 1] != ' ' && (line[i + 1] & 0xc0) != 0x80);
			continue;
		}
		*to++ = line[i] == '_' ? ' ' : line[i];
		/* a character ends where the next byte does not continue it, and then a space must follow */
		assert_true((line[i + 1] & 0xc0) == 0x80 || line[i + 1] == ' ' || !line[i + 1]);
	}
	*to = 0;
}

/* One pass over the three splits gives each number of the range once; the next pass all again in other order. */
static void numbers_come_once_a_pass(void **state)
{
	(void)state;
	static unsigned char seen[N2D_NUMBER_LIMIT];
	learn_words();
	for (int split = 0; split < 3; split++) {
		struct n2d_task_config c = n2d_task_defaults(N2D_TASK_NUMBERS);
		c.split = (enum n2d_split)split;
		c.min_length = 2;
		c.max_length = 4;
		struct n2d_task t = open_task(c);
		size_t n = t.start[5] - t.start[2], few = 0, falls = 0;
		long before = 0;
		assert_int_equal(t.start[2], 0);
		for (size_t line = 0; line < 2 * n; line++) {
			char english[N2D_NUMBER_TEXT], german[N2D_NUMBER_TEXT];
			assert_int_equal(n2d_task_next(&t), 0);
			join(english, t.source);
			join(german, t.target);
			long i = read_english(english);
			assert_int_equal(read_german(german), i);
			assert_in_range(i, 10, 9999);
			assert_int_equal(seen[i], line < n ? 0 : 1);
			seen[i]++;
			falls += i < before && i >= 1000 && before < 10000;
			before = i;
			few += line < n / 20 && i < 1000;
		}
		assert_true(falls > n / 4); /* in no order */
		assert_true(split || few > n / 40); /* numbers of digits take turns: short ones are not rare at first */
		n2d_task_close(&t);
	}
	for (int i = 0; i < 10000; i++)
		assert_int_equal(seen[i], i < 10 ? 0 : 2);
}

/* ---- files and what cannot be */

static void holds(const char *path, const char *first, size_t lines)
{
	struct n2d_map m;
	size_t n = 0;
	assert_int_equal(n2d_map_open(&m, path), 0);
	assert_memory_equal(m.data, first, strlen(first));
	for (size_t i = 0; i < m.size; i++)
		n += m.data[i] == '\n';
	assert_int_equal(n, lines);
	n2d_map_close(&m);
}

static void files_hold_the_lines(void **state)
{
	(void)state;
	char folder[] = "test-task.XXXXXX", prefix[64], path[80], first[128];
	struct n2d_task_config c = n2d_task_defaults(N2D_TASK_REVERSE);
	struct n2d_task t = open_task(c);
	assert_int_equal(n2d_task_next(&t), 0);
	assert_non_null(mkdtemp(folder));
	snprintf(prefix, sizeof prefix, "%s/a", folder);
	assert_int_equal(n2d_task_write(&c, 100, prefix, "src", "trg"), 0);
	snprintf(first, sizeof first, "%s\n", t.source);
	snprintf(path, sizeof path, "%s.src", prefix);
	holds(path, first, 100);
	snprintf(first, sizeof first, "%s\n", t.target);
	snprintf(path, sizeof path, "%s.trg", prefix);
	holds(path, first, 100);
	unlink(path);
	/* A failure leaves the old files: too few sequences, or no place for the second file. */
	struct n2d_task_config none = c;
	none.vocab = 1;
	none.max_length = 1;
	int failures = 0;
	for (int split = 0; split < 3; split++) {
		none.split = (enum n2d_split)split;
		if (n2d_task_write(&none, 5, prefix, "src", "trg"))
			failures++;
		else
			unlink(path);
	}
	assert_int_equal(failures, 2);
	assert_int_equal(n2d_task_write(&c, 3, prefix, "src", "none/trg"), -1);
	assert_non_null(strstr(n2d_error_text(), "none/trg"));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(n2d_task_write(&c, 3, prefix, "x", "x"), -1);
	snprintf(path, sizeof path, "%s.src", prefix);
	unlink(path);
	assert_int_equal(rmdir(folder), 0); /* nothing else is in it */
	n2d_task_close(&t);
}

static void wrong_settings_are_named(void **state)
{
	(void)state;
	struct n2d_task t;
	struct n2d_task_config base = n2d_task_defaults(N2D_TASK_COPY), c;
#define WRONG(change, why) \
	c = base; \
	change; \
	assert_int_equal(n2d_task_open(&t, &c), -1); \
	assert_non_null(strstr(n2d_error_text(), why))
	WRONG(c.min_length = 0, "from 0 to 20");
	WRONG(c.min_length = 21, "from 21 to 20");
	WRONG(c.max_length = 1000001, "from 1 to 1000000");
	WRONG(c.vocab = 27, "vocabulary of 27");
	WRONG(c.vocab = 0, "vocabulary of 0");
	WRONG((c.ids = 1, c.vocab = 0), "vocabulary of 0");
	WRONG((c.ids = 1, c.vocab = (1 << 20) + 1), "to 1048576 ids"); /* no reader would take the largest */
	base = n2d_task_defaults(N2D_TASK_NUMBERS);
	WRONG(c.max_length = 7, "from 1 to 6");
	WRONG(c.ids = 1, "not ids");
	int empty = 0; /* 10 numbers of one digit do not fill the three splits */
	for (int split = 0; split < 3; split++) {
		c = base;
		c.max_length = 1;
		c.split = (enum n2d_split)split;
		if (n2d_task_open(&t, &c)) {
			assert_non_null(strstr(n2d_error_text(), "none of 1 to 1 digits"));
			empty++;
		} else
			n2d_task_close(&t);
	}
	assert_in_range(empty, 1, 2);
	assert_int_equal(n2d_task_find("sort"), N2D_TASK_SORT);
	assert_int_equal(n2d_task_find("sorted"), -1);
	assert_non_null(strstr(n2d_error_text(), "copy|reverse|sort|numbers"));
	assert_int_equal(n2d_split_find("test"), N2D_SPLIT_TEST);
	assert_int_equal(n2d_split_find("dev"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_tricky_numbers),
		cmocka_unit_test(every_number_reads_back),
		cmocka_unit_test(targets_are_right),
		cmocka_unit_test(the_seed_decides),
		cmocka_unit_test(splits_do_not_overlap),
		cmocka_unit_test(numbers_come_once_a_pass),
		cmocka_unit_test(files_hold_the_lines),
		cmocka_unit_test(wrong_settings_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
