/* Encoding of the localizer's cache entries in the state store. The daemon wrote the bytes, but a
 * disk may have changed them: decoding checks every length and that no byte is left over. */
#ifndef SELVEDGE_NODEMANAGER_STORE_LOCALIZATION_RECORDS_H
#define SELVEDGE_NODEMANAGER_STORE_LOCALIZATION_RECORDS_H

#include "common/arena.h"
#include "common/buf.h"
#include "localizer/cache.h"

/* The key: the tracker, and the number of the entry in it. */
void nm_loc_record_key(const struct loc_record *r, char *buf, size_t size);
int nm_loc_record_encode(const struct loc_record *r, bool completed, struct sv_buf *b) _must_use_;
/* Texts in the arena. dir_index and rel are not part of the record. -EBADMSG. */
int nm_loc_record_decode(struct sv_buf *b, struct sv_arena *a, struct loc_record *ret,
                         bool *ret_completed) _must_use_;

#endif
