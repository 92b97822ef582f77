/* External strings: strict numbers, Hadoop durations and sizes, lists, escaping. */
#ifndef SELVEDGE_COMMON_STR_H
#define SELVEDGE_COMMON_STR_H

#include "common/base.h"

/* Decimal, the whole string, no blanks, no sign for u64 ("-" allowed for i64), no leading '+'. 0,
 * -EINVAL, or -ERANGE when outside [min, max]. */
int sv_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret) _must_use_;
int sv_parse_i64(const char *s, int64_t min, int64_t max, int64_t *ret) _must_use_;
/* true|false in any case, as Hadoop reads them; anything else is -EINVAL, never a default. */
int sv_parse_bool(const char *s, bool *ret) _must_use_;
/* "10", "10ms", "5s", "3m", "2h", "1d", "7us", "9ns" → milliseconds. A plain number has the unit
 * `plain_unit_ms` (1 for "-ms" keys, 1000 for "-secs"). */
int sv_parse_duration_ms(const char *s, int64_t plain_unit_ms, int64_t *ret) _must_use_;
/* "4096", "128k", "64m", "2g", "1t" (powers of 1024, any case, optional trailing "b"/"ib"). */
int sv_parse_size(const char *s, uint64_t *ret) _must_use_;

/* Splits at `sep`, trims blanks, drops empty parts; a NULL-terminated vector freed by
 * sv_strv_free. */
int sv_strv_split(const char *s, char sep, char ***ret) _must_use_;
char **sv_strv_free(char **v);
static inline void sv_strv_freep(char ***v)
{
    *v = sv_strv_free(*v);
}
#define _cleanup_strv_ _cleanup_(sv_strv_freep)
size_t sv_strv_len(char *const *v);

/* malloc'd printf; -ENOMEM. */
int sv_asprintf(char **ret, const char *fmt, ...) _must_use_ _printf_(2, 3);
bool sv_streq(const char *a, const char *b); /* NULL equals only NULL */
bool sv_has_prefix(const char *s, const char *prefix);
bool sv_has_suffix(const char *s, const char *suffix);
/* Copies with \n, control bytes and non-ASCII as \xNN into dst (always NUL-terminated, cut). */
void sv_escape(char *dst, size_t size, const char *src);

/* Standard base64 (RFC 4648 with padding). Decode refuses everything else; outputs malloc'd. */
int sv_base64_encode(const void *p, size_t n, char **ret) _must_use_;
int sv_base64_decode(const char *s, size_t len, size_t max, uint8_t **ret, size_t *ret_len)
    _must_use_;

#endif
