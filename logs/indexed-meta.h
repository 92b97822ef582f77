/* The index of an IndexedFile: a serialized LogAggregationIndexedFileController.IndexedLogsMeta,
 * that one graph of objects and nothing else. Pure. Hostile: every byte. */
#ifndef SELVEDGE_LOGS_INDEXED_META_H
#define SELVEDGE_LOGS_INDEXED_META_H

#include "logs/bcfile.h"
#include "logs/java-stream.h"

struct logs_indexed_file {
    struct logs_java_string container, name;
    uint64_t start, size; /* in the file, compressed */
    uint64_t length;      /* of the log */
    uint32_t upload;      /* number of the upload that has it, from 0 */
};

struct logs_indexed_meta {
    enum logs_codec codec;
    struct logs_indexed_file *files; /* malloc'd: by upload, container, and as they were written */
    size_t n;
};

/* `p` must live as long as the result, which refers to it. */
int logs_indexed_meta_parse(const uint8_t *p, size_t n, struct logs_indexed_meta *ret,
                            struct sv_error *err) _must_use_;
void logs_indexed_meta_clear(struct logs_indexed_meta *m);

#endif
