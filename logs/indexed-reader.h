/* IndexedFile, the second format of aggregated logs (LogAggregationIndexedFileController):
 * individually compressed logs, followed by an index (indexed-meta.h), its length (4 bytes) and the
 * 32-byte marker that the file begins with. A file that was appended to also contains its older
 * indexes. Hostile: every byte. */
#ifndef SELVEDGE_LOGS_INDEXED_READER_H
#define SELVEDGE_LOGS_INDEXED_READER_H

#include "logs/aggregated.h"

#define LOGS_INDEX_MAX (64u << 20) /* bytes of an index; Hadoop warns above that */

/* Returns 1 if the source begins and ends like an IndexedFile, 0 if not, or -errno. */
int logs_indexed_is(const struct logs_source *source) _must_use_;

/* Parses the checksum file beside an IndexedFile: name and length of that file before an upload
 * that is running or was interrupted. */
#define LOGS_CHECKSUM_NAME_MAX 512
int logs_indexed_checksum(const struct logs_source *source, char ret_of[LOGS_CHECKSUM_NAME_MAX + 1],
                          uint64_t *ret_length, struct sv_error *err) _must_use_;

struct logs_indexed;
int logs_indexed_new(const struct logs_source *source, struct logs_indexed **ret,
                     struct sv_error *err) _must_use_;
struct logs_indexed *logs_indexed_free(struct logs_indexed *r);
static inline void logs_indexed_freep(struct logs_indexed **r)
{
    *r = logs_indexed_free(*r);
}
/* As logs_reader_container, …_file and …_get. A log with fewer bytes than its length ends early:
 * its NodeManager could not read more of it. */
int logs_indexed_container(struct logs_indexed *r, char ret_id[LOGS_ID_MAX + 1],
                           struct sv_error *err) _must_use_;
int logs_indexed_file(struct logs_indexed *r, char ret_name[LOGS_FILE_NAME_MAX + 1],
                      uint64_t *ret_length, struct sv_error *err) _must_use_;
int logs_indexed_skip(struct logs_indexed *r, uint64_t n, struct sv_error *err) _must_use_;
ssize_t logs_indexed_get(struct logs_indexed *r, void *p, size_t n, struct sv_error *err)
    _must_use_;

#endif
