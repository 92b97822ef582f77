/* Strict parser for Java's object serialization stream: classes with fields, strings, enum
 * constants, references to strings, and the block data that collections write. The caller names the
 * element that it expects next; the parser builds no objects and knows no classes. Pure. Hostile:
 * every byte. Memory is bounded by the length of the stream. */
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
    bool has_super; /* a superclass with fields or written data */
};
#define LOGS_JAVA_WRITES 0x01 /* flag: block data follows the fields */

/* A string's bytes ("modified UTF-8") within the stream; NULL: null. */
struct logs_java_string {
    const uint8_t *p;
    uint16_t n;
};

struct logs_java;
/* `p` must outlive the parser. -EBADMSG. */
int logs_java_new(const uint8_t *p, size_t n, struct logs_java **ret, struct sv_error *err)
    _must_use_;
struct logs_java *logs_java_free(struct logs_java *j);
static inline void logs_java_freep(struct logs_java **j)
{
    *j = logs_java_free(*j);
}

/* Each reads the element that must come next; -EBADMSG if it is another one. */
/* Begins an object; its class's fields follow. *ret NULL: null. */
int logs_java_object(struct logs_java *j, const struct logs_java_class **ret, struct sv_error *err)
    _must_use_;
int logs_java_string(struct logs_java *j, struct logs_java_string *ret, struct sv_error *err)
    _must_use_;
/* Skips a string, an enum constant or null. */
int logs_java_skip_key(struct logs_java *j, struct sv_error *err) _must_use_;
int logs_java_u32(struct logs_java *j, uint32_t *ret, struct sv_error *err) _must_use_;
int logs_java_u64(struct logs_java *j, uint64_t *ret, struct sv_error *err) _must_use_;
/* Skips a field of a primitive type. */
int logs_java_skip_value(struct logs_java *j, char type, struct sv_error *err) _must_use_;
/* Reads a block of exactly n bytes; …_end() its end marker. */
int logs_java_block(struct logs_java *j, void *p, size_t n, struct sv_error *err) _must_use_;
int logs_java_block_end(struct logs_java *j, struct sv_error *err) _must_use_;
/* True if all input was consumed. */
bool logs_java_at_end(const struct logs_java *j);

#endif
