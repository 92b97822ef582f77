/* A message as a field of a record (record.h): its packed bytes in hexadecimal. A record that is
 * read is not trusted. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_PACKED_TEXT_H
#define SELVEDGE_RM_LITE_SCHEDULER_PACKED_TEXT_H

#include "common/arena.h"

char *rm_packed_text(const ProtobufCMessage *m); /* to be freed; NULL without memory */
int rm_packed_parse(struct sv_arena *a, const char *text, const ProtobufCMessageDescriptor *d,
                    ProtobufCMessage **ret) _must_use_; /* -EBADMSG */

#endif
