/* Texts of answers: HTTP heads as Hadoop's ShuffleHandler writes them, and the ShuffleHeader before
 * each map's bytes. */
#ifndef SELVEDGE_SHUFFLE_RESPONSE_H
#define SELVEDGE_SHUFFLE_RESPONSE_H

#include "common/base.h"
#include "shuffle/limits.h"
#include "shuffle/request.h"
#include "shuffle/spill-index.h"

#define SHF_HEAD_MAX 1024
/* Text (1 or 2 bytes and the name), two longs of at most 9 bytes, an int of at most 5. */
#define SHF_MAP_HEADER_MAX (2 + SHF_ID_MAX + 9 + 9 + 5)

/* All return the number of bytes written. `keep_alive_s` 0: the connection closes after the
 * answer. */
size_t shf_response_ok(char dst[SHF_HEAD_MAX], const char *reply_hash, unsigned keep_alive_s,
                       uint64_t length);
size_t shf_response_refusal(char dst[SHF_HEAD_MAX], const struct shf_refusal *why);
size_t shf_map_header(uint8_t dst[SHF_MAP_HEADER_MAX], const char *map, const struct shf_segment *s,
                      uint32_t reduce);

#endif
