/* Generates the largest request of a method from its protobuf descriptor: one of its lists or texts
 * is as long as the server takes it, all else is there once, or not at all: a filter that excludes
 * everything hides the cost of the next one. A method that is new in the tables is
 * covered without another line. */
#ifndef SELVEDGE_TESTS_LIB_LARGEST_REQUEST_H
#define SELVEDGE_TESTS_LIB_LARGEST_REQUEST_H

#include <protobuf-c/protobuf-c.h>

#include "common/arena.h"
#include "common/base.h"

#define LARGEST_DEPTH 5 /* nesting of what is lengthened */
#define LARGEST_PATHS 256
#define LARGEST_SHORT 24 /* bytes of a text that is not lengthened */

/* A list or text of a message: the index of the field in each message from the outermost. */
struct largest_path {
    unsigned field[LARGEST_DEPTH];
    size_t n; /* 0: nothing is lengthened */
};

/* The value of every sub-message of this type, so that requests name things that exist. Without a
 * value: nothing beside the path has such a message, because no request with it is accepted. */
struct largest_known {
    const ProtobufCMessageDescriptor *type;
    const ProtobufCMessage *value;
    const ProtobufCMessage *const *values; /* or n of them, for the members of a list in turn */
    size_t n;
};

/* The value of every text of this name, of about n bytes. */
struct largest_text {
    const ProtobufCMessageDescriptor *type; /* of the message that has it; NULL: any */
    const char *field;
    ProtobufCBinaryData (*make)(struct sv_arena *a, size_t n);
};

struct largest_hints {
    const struct largest_known *known; /* ends with a type of NULL */
    const struct largest_text *texts;  /* ends with a field of NULL; or NULL */
};

/* Lists and texts of a message of type d: their number, at most LARGEST_PATHS. */
size_t largest_paths(const ProtobufCMessageDescriptor *d, struct largest_path ret[LARGEST_PATHS]);
struct largest_size {
    size_t items; /* as many as one request may have: a list has as many members as that allows */
    size_t text;  /* bytes of a text */
    bool bare;    /* nothing but the path, what is required and what is known */
};
/* Fills m: what the caller has set stays but for the path. */
void largest_fill(struct sv_arena *a, ProtobufCMessage *m, const struct largest_path *p,
                  const struct largest_hints *hints, struct largest_size size);
/* The half of a size that was refused, so that the largest accepted request is found, too; false:
 * there is none. */
bool largest_halve(struct largest_size *size);

#endif
