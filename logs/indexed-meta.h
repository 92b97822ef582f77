/* Parser of an IndexedFile's index: one serialized object graph of
 * LogAggregationIndexedFileController.IndexedLogsMeta and nothing else. Pure. Hostile: every
 * byte. */
#ifndef SELVEDGE_LOGS_INDEXED_META_H
#define SELVEDGE_LOGS_INDEXED_META_H

#include "logs/bcfile.h"
#include "logs/java-stream.h"

struct logs_indexed_file {
    struct logs_java_string container, name;
    uint64_t start, size; /* in the file, compressed */
    uint64_t length;      /* of the log */
    uint32_t upload;      /* number of the upload that wrote it, from 0 */
};

struct logs_indexed_meta {
    enum logs_codec codec;
    struct logs_indexed_file *files; /* malloc'd; ordered by upload, container, then as written */
    size_t n;
};

/* The result refers to `p`, which must outlive it. */
int logs_indexed_meta_parse(const uint8_t *p, size_t n, struct logs_indexed_meta *ret,
                            struct sv_error *err) _must_use_;
void logs_indexed_meta_clear(struct logs_indexed_meta *m);

#endif
