/* Unpacks a gzip file of any number of members as a stream. Hostile: every byte. Memory does not
 * depend on the input; how much is unpacked is the caller's limit.
 *
 * As gunzip and libarchive do: bytes behind a member that are no header end the file. As gunzip
 * does, and libarchive before 3.8 does not: each member's checksum and length are compared. */
#ifndef SELVEDGE_LOCALIZER_GUNZIP_H
#define SELVEDGE_LOCALIZER_GUNZIP_H

#include <sys/types.h>

#include "common/base.h"

struct loc_gunzip;
/* Reads `fd` from its offset, or if it is -1 the bytes at `data`. 1 and the reader, which borrows
 * both; 0 if they do not begin with a gzip header. */
int loc_gunzip_new(int fd, const void *data, size_t len, struct loc_gunzip **ret) _must_use_;
struct loc_gunzip *loc_gunzip_free(struct loc_gunzip *g);
/* The next unpacked bytes, valid until the next call; 0 at the end. -EBADMSG and what is wrong in
 * *ret_why, which is a constant. */
ssize_t loc_gunzip_read(struct loc_gunzip *g, const uint8_t **ret, const char **ret_why) _must_use_;
/* Bytes of the file that the unpacked bytes came from. */
uint64_t loc_gunzip_packed(const struct loc_gunzip *g);

#endif
