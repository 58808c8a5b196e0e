#include "text/numbers.h"

#include <string.h>

static const char *const english_small[] = {
	"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
	"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
};
static const char *const english_tens[] = {
	"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
};
static const char *const german_small[] = {
	"null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf", "dreizehn",
	"vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
};
static const char *const german_tens[] = {
	"", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig",
};

/* The longest text of either language has less than N2D_NUMBER_TEXT bytes (the tests write all). */
static char *put(char *to, const char *text)
{
	size_t n = strlen(text);
	memcpy(to, text, n + 1);
	return to + n;
}

/* 0 < n < 1000 */
static char *english_below_1000(char *to, uint32_t n)
{
	if (n >= 100) {
		to = put(put(to, english_small[n / 100]), n % 100 ? " hundred " : " hundred");
		n %= 100;
	}
	if (n >= 20)
		to = put(put(to, english_tens[n / 10]), n % 10 ? "-" : "");
	if (n >= 20)
		n %= 10;
	return n ? put(to, english_small[n]) : to;
}

void n2d_number_english(char text[N2D_NUMBER_TEXT], uint32_t n)
{
	if (!n)
		put(text, english_small[0]);
	if (n >= 1000)
		text = put(english_below_1000(text, n / 1000), n % 1000 ? " thousand " : " thousand");
	if (n % 1000)
		english_below_1000(text, n % 1000);
}

/* 0 < n < 1000; one: the word of a final 1. */
static char *german_below_1000(char *to, uint32_t n, const char *one)
{
	if (n >= 100)
		to = put(put(to, german_small[n / 100]), "hundert");
	n %= 100;
	if (n >= 20) {
		if (n % 10)
			to = put(put(to, german_small[n % 10]), "und");
		return put(to, german_tens[n / 10]);
	}
	return n == 1 ? put(to, one) : n ? put(to, german_small[n]) : to;
}

void n2d_number_german(char text[N2D_NUMBER_TEXT], uint32_t n)
{
	if (!n)
		put(text, german_small[0]);
	if (n >= 1000)
		text = put(german_below_1000(text, n / 1000, "ein"), "tausend");
	if (n % 1000)
		german_below_1000(text, n % 1000, "eins");
}
