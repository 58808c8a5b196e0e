/* Whole numbers from 0 to 999,999 in words. English as in the United States, without "and": "one hundred twenty-one thousand
 * two". German: "einhunderteinundzwanzigtausendzwei"; a final one is "eins". UTF-8. */
#ifndef N2D_NUMBERS_H
#define N2D_NUMBERS_H

#include <stdint.h>

enum { N2D_NUMBER_LIMIT = 1000000, N2D_NUMBER_TEXT = 128 };

/* n < N2D_NUMBER_LIMIT. */
void n2d_number_english(char text[N2D_NUMBER_TEXT], uint32_t n);
void n2d_number_german(char text[N2D_NUMBER_TEXT], uint32_t n);

#endif
