/* Validates a protobuf message before protobuf-c unpacks it.
 *
 * protobuf-c recurses once per level without a limit, stores every unknown field at forty times its
 * size, merges repeated singular messages in quadratic time and returns strings truncated at an
 * embedded NUL. Required before unpacking any peer's bytes. */
#ifndef SELVEDGE_WIRE_DEPTH_H
#define SELVEDGE_WIRE_DEPTH_H

#include <protobuf-c/protobuf-c.h>

#include "common/base.h"

#define IPC_DEPTH_MAX 32 /* nested messages, including the outermost */
/* Unknown fields allowed in a message of n bytes, all levels together. */
#define IPC_UNKNOWN_MAX(n) (1024 + (n) / 32)

/* Reads each byte at most three times, without allocating or recursing. Returns 0 or
 *   -ELOOP    nested deeper than max_depth (1 … IPC_DEPTH_MAX; others mean IPC_DEPTH_MAX)
 *   -E2BIG    more unknown fields than IPC_UNKNOWN_MAX(n), or than max_items (ipc_depth_look)
 *   -EMSGSIZE more than max_items sub-messages, members of lists of any type, packed ones too, and
 *             repetitions of singular fields (ipc_depth_look)
 *   -EILSEQ   a string field with a NUL or invalid UTF-8
 *   -EBADMSG  not a protobuf message, or one that is not accepted: a wrong wire type for a
 *             known field, a group, a singular sub-message given twice
 * 0 does not guarantee that unpacking succeeds (a required field may be missing). */
int ipc_depth_check(const uint8_t *p, size_t n, const ProtobufCMessageDescriptor *d,
                    unsigned max_depth) _must_use_;
/* As ipc_depth_check(), with a limit of items; *ret_odd_enum: an enum field has an unknown value
 * (wire/enums.h). */
int ipc_depth_look(const uint8_t *p, size_t n, const ProtobufCMessageDescriptor *d,
                   unsigned max_depth, size_t max_items, bool *ret_odd_enum) _must_use_;

/* UTF-8 by RFC 3629 without NUL: required of every string from a peer. */
bool ipc_text_ok(const uint8_t *p, size_t n);

#endif
