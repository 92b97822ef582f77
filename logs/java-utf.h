/* Strings as Java's DataOutput.writeUTF has them: a length of two bytes, and "modified UTF-8": NUL
 * in two bytes, what is beyond U+FFFF as two surrogates of three bytes each. Pure. */
#ifndef SELVEDGE_LOGS_JAVA_UTF_H
#define SELVEDGE_LOGS_JAVA_UTF_H

#include "common/buf.h"

#define LOGS_UTF_MAX UINT16_MAX

/* Appends `s` with its length. What is not UTF-8 becomes U+FFFD, a byte at a time, as Java has it
 * for names of files. -EMSGSIZE. */
int logs_utf_put(struct sv_buf *b, const char *s) _must_use_;
/* n bytes without the length, as UTF-8, at most n bytes and a NUL: an unpaired surrogate, a NUL or
 * a malformed byte becomes '?'. */
void logs_utf_text(const uint8_t *p, size_t n, char *ret);

#endif
