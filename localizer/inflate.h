/* Decompresses one member of a gzip file, from behind its header to its end, and compares its
 * checksum and length: by ISA-L (inflate-isal.c), or by zlib where the build has no ISA-L
 * (inflate-zlib.c). Hostile: every byte. */
#ifndef SELVEDGE_LOCALIZER_INFLATE_H
#define SELVEDGE_LOCALIZER_INFLATE_H

#include "common/base.h"

struct loc_inflate;
struct loc_inflate *loc_inflate_new(void); /* NULL: out of memory */
void loc_inflate_free(struct loc_inflate *z);
/* Before each member. */
int loc_inflate_begin(struct loc_inflate *z) _must_use_;
/* Takes input and gives output as far as both go, and moves the pointers on. 1: the member has
 * ended, *in is the first byte behind it; 0: more input or more room is needed; -EBADMSG. */
int loc_inflate_run(struct loc_inflate *z, const uint8_t **in, size_t *in_len, uint8_t **out,
                    size_t *out_len) _must_use_;

#endif
