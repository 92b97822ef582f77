/* Java's object serialization stream, read strictly: classes with fields, strings, enum constants,
 * references to strings, and the blocks that collections write. The caller says what it expects
 * next; nothing is built and no class is known here. Pure. Hostile: every byte. Memory is bounded
 * by the length of the stream. */
#ifndef SELVEDGE_LOGS_JAVA_STREAM_H
#define SELVEDGE_LOGS_JAVA_STREAM_H

#include "common/buf.h"
#include "common/error.h"

#define LOGS_JAVA_CLASSES_MAX 16
#define LOGS_JAVA_FIELDS_MAX 16
#define LOGS_JAVA_NAME_MAX 200

struct logs_java_field {
    char type; /* 'I', 'J', 'L' … */
    char name[LOGS_JAVA_NAME_MAX + 1];
};

struct logs_java_class {
    char name[LOGS_JAVA_NAME_MAX + 1];
    uint8_t flags;
    struct logs_java_field fields[LOGS_JAVA_FIELDS_MAX]; /* in the order of their values */
    size_t n_fields;
    bool has_super; /* a class above it that has fields or writes data */
};
#define LOGS_JAVA_WRITES 0x01 /* flags: data behind the fields, until the end of the block */

/* Where a string's bytes ("modified UTF-8") are in the stream; NULL: null. */
struct logs_java_string {
    const uint8_t *p;
    uint16_t n;
};

struct logs_java;
/* `p` must live as long. -EBADMSG. */
int logs_java_new(const uint8_t *p, size_t n, struct logs_java **ret, struct sv_error *err)
    _must_use_;
struct logs_java *logs_java_free(struct logs_java *j);
static inline void logs_java_freep(struct logs_java **j)
{
    *j = logs_java_free(*j);
}

/* What comes next; -EBADMSG where it is something else. */
/* An object; its class's fields follow. *ret NULL: null. */
int logs_java_object(struct logs_java *j, const struct logs_java_class **ret, struct sv_error *err)
    _must_use_;
int logs_java_string(struct logs_java *j, struct logs_java_string *ret, struct sv_error *err)
    _must_use_;
/* A string, or an enum constant or null, whichever it is; not kept. */
int logs_java_skip_key(struct logs_java *j, struct sv_error *err) _must_use_;
int logs_java_u32(struct logs_java *j, uint32_t *ret, struct sv_error *err) _must_use_;
int logs_java_u64(struct logs_java *j, uint64_t *ret, struct sv_error *err) _must_use_;
/* A field of a primitive type. */
int logs_java_skip_value(struct logs_java *j, char type, struct sv_error *err) _must_use_;
/* A block of exactly n bytes; its end. */
int logs_java_block(struct logs_java *j, void *p, size_t n, struct sv_error *err) _must_use_;
int logs_java_block_end(struct logs_java *j, struct sv_error *err) _must_use_;
/* Was all of it read? */
bool logs_java_at_end(const struct logs_java *j);

#endif
