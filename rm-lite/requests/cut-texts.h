/* Cuts the long texts in an entry of a list. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_CUT_TEXTS_H
#define SELVEDGE_RM_LITE_REQUESTS_CUT_TEXTS_H

#include <protobuf-c/protobuf-c.h>

#include "common/arena.h"

/* Cuts the texts of a message and its sub-messages, all in the arena, to RM_LIST_TEXT_MAX bytes,
 * and to fewer while the packed message is larger than `size`, though not below 64 bytes. The texts
 * themselves are others' and only replaced. -ENOMEM. */
int rm_cut_texts(struct sv_arena *a, ProtobufCMessage *m, size_t size) _must_use_;

#endif
