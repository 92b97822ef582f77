/* Characters of UTF-8 text by RFC 3629. */
#ifndef SELVEDGE_COMMON_UTF8_H
#define SELVEDGE_COMMON_UTF8_H

#include "common/base.h"

#define SV_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for bytes that are no character */

/* Decodes the character at `p`, of `n` > 0 bytes; returns its bytes, or 0 if it is none. */
size_t sv_utf8_at(const void *p, size_t n, uint32_t *ret);
/* The largest length of at most `max` that ends between two characters of the valid text. */
size_t sv_utf8_cut(const char *text, size_t max);
/* Copies `n` bytes as a NUL-terminated text: what is no character, and a NUL, becomes U+FFFD. Whole
 * characters alone are written. Returns how many bytes of `p` were copied. */
size_t sv_utf8_copy(char *dst, size_t size, const void *p, size_t n);

#endif
