/* Strings in the format of Java's DataOutput.writeUTF: a two-byte length and "modified UTF-8": NUL
 * as two bytes, characters beyond U+FFFF as two surrogates of three bytes each. Pure. */
#ifndef SELVEDGE_LOGS_JAVA_UTF_H
#define SELVEDGE_LOGS_JAVA_UTF_H

#include "common/buf.h"

#define LOGS_UTF_MAX UINT16_MAX

/* Appends `s` with its length. Each byte that is not UTF-8 becomes U+FFFD, as Java decodes file
 * names. -EMSGSIZE. */
int logs_utf_put(struct sv_buf *b, const char *s) _must_use_;
/* Converts n bytes (length stripped) to UTF-8, at most n bytes and a NUL; an unpaired surrogate, a
 * NUL or a malformed byte becomes '?'. */
void logs_utf_text(const uint8_t *p, size_t n, char *ret);

#endif
