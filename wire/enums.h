/* Unknown enum values of later Hadoop versions.
 *
 * protobuf-c returns them as numbers that no switch expects; Java's proto2 readers treat such a
 * field as unknown. Here as in Java: an optional field becomes absent, a list element is dropped, a
 * required field makes the message malformed. */
#ifndef SELVEDGE_WIRE_ENUMS_H
#define SELVEDGE_WIRE_ENUMS_H

#include <protobuf-c/protobuf-c.h>

#include "common/base.h"

bool ipc_enum_known(const ProtobufCEnumDescriptor *d, int value);
/* Recurses: only for a message that passed ipc_depth_check. -EBADMSG, -ENOMEM. */
int ipc_enums_settle(ProtobufCMessage *m) _must_use_;

#endif
