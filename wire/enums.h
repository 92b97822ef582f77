/* Values of enums that a later Hadoop has and we do not know.
 *
 * protobuf-c hands them out as numbers that no switch expects; Java's readers of proto2 take such a
 * field as one they do not know. Here it is as in Java: an optional field is absent, an element of
 * a list is left out, a required field makes the message malformed. Called by ipc_unpack. */
#ifndef SELVEDGE_WIRE_ENUMS_H
#define SELVEDGE_WIRE_ENUMS_H

#include <protobuf-c/protobuf-c.h>

#include "common/base.h"

bool ipc_enum_known(const ProtobufCEnumDescriptor *d, int value);
/* Over a message that ipc_depth_check has let through (it recurses). -EBADMSG, -ENOMEM. */
int ipc_enums_settle(ProtobufCMessage *m) _must_use_;

#endif
