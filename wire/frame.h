/* Frames of Hadoop IPC and the limits of their contents.
 *
 * A frame is an int32 (big-endian) length and that many bytes; inside, messages are delimited by a
 * varint length. Hostile: all input. */
#ifndef SELVEDGE_WIRE_FRAME_H
#define SELVEDGE_WIRE_FRAME_H

#include <protobuf-c/protobuf-c.h>

#include "common/arena.h"
#include "common/base.h"
#include "common/buf.h"

#define IPC_FRAME_MAX (128u << 20)        /* ipc.maximum.data.length */
#define IPC_FRAME_PREAUTH_MAX (64u << 10) /* until the peer is authenticated */
/* That for Kerberos, whose largest token alone is 64 KiB (wire/sasl/gssapi.h). */
#define IPC_FRAME_KERBEROS_MAX (68u << 10)
#define IPC_WRAP_OVERHEAD 256u      /* overhead of a WRAP message */
#define IPC_CLIENT_ID_MAX 64        /* a UUID of 16 bytes in practice */
#define IPC_NAME_MAX 255            /* method, protocol and user names */
#define IPC_SASL_CHALLENGE_MAX 2048 /* RFC 2831 2.1.1 */
#define IPC_SASL_RESPONSE_MAX 4096  /* RFC 2831 2.1.2 */
#define IPC_ARENA_FACTOR 32         /* maximum unpacked memory per byte of a message */
#define IPC_ARENA_BASE (1u << 20)
#define IPC_ARENA_MAX (512u << 20)
/* Sub-messages, members of lists and repetitions of a singular field in one request to a server:
 * unpacking and handling that many takes up to ten milliseconds of its thread. */
#define IPC_REQUEST_ITEMS_MAX 65536
#define IPC_FRAME_FRONT 256u       /* more than the front of an answer's frame has */
#define IPC_READ_CHUNK (64u << 10) /* bytes read at a time */

/* Call ids below 0, org.apache.hadoop.ipc.RpcConstants and Server. */
#define IPC_CALL_AUTH_FAILED (-1)
#define IPC_CALL_INVALID (-2)
#define IPC_CALL_CONTEXT (-3)
#define IPC_CALL_PING (-4)
#define IPC_CALL_SASL (-33)

#define IPC_VERSION 9
#define IPC_AUTH_NONE 0x00
#define IPC_AUTH_SASL 0xdf /* (byte) -33 */

/* Finds the frame at the start of n bytes: 1 = complete, its payload in *ret (not copied) and its
 * total size in *ret_used; 0 = more bytes are needed; -EMSGSIZE = its length exceeds `max` (or is
 * negative or zero). Nothing is allocated. */
int ipc_frame_next(const uint8_t *p, size_t n, size_t max, const uint8_t **ret, size_t *ret_len,
                   size_t *ret_used);

/* The next varint-delimited message in the buffer, not copied. -EBADMSG. */
int ipc_delimited_get(struct sv_buf *b, const uint8_t **ret, size_t *ret_len) _must_use_;

/* Appends one frame of up to three delimited messages; NULL messages are omitted, and `body`
 * (already packed; may be NULL) follows as the last delimited message. All or nothing. */
int ipc_frame_put(struct sv_buf *out, const ProtobufCMessage *header,
                  const ProtobufCMessage *second, const uint8_t *body, size_t body_len) _must_use_;
/* As ipc_frame_put(), with the last message unpacked; NULL is an empty message. */
int ipc_frame_put_message(struct sv_buf *out, const ProtobufCMessage *header,
                          const ProtobufCMessage *body) _must_use_;

/* Makes a frame of the header and the bytes behind the cursor, an already packed message: the front
 * is written before the cursor, which moves there. -EMSGSIZE: no room, or more than INT32_MAX. */
int ipc_frame_put_front(struct sv_buf *body, const ProtobufCMessage *header) _must_use_;

/* Appends a frame of the header and an RpcSaslProto {state WRAP, token} without the token's bytes:
 * *ret is their space, which the caller fills. */
int ipc_frame_put_wrap(struct sv_buf *out, const ProtobufCMessage *header, size_t token_len,
                       uint8_t **ret) _must_use_;

/* Unpacks a message from hostile bytes into the arena, after ipc_depth_check (wire/depth.h).
 * -EBADMSG, also when the arena's maximum is reached; *ret is then NULL. */
int ipc_unpack(struct sv_arena *a, const ProtobufCMessageDescriptor *d, const uint8_t *p, size_t n,
               ProtobufCMessage **ret) _must_use_;
/* As ipc_unpack(); -EMSGSIZE: more than max_items of what ipc_depth_look counts. */
int ipc_unpack_items(struct sv_arena *a, const ProtobufCMessageDescriptor *d, const uint8_t *p,
                     size_t n, size_t max_items, ProtobufCMessage **ret) _must_use_;
/* Maximum size of an arena for unpacking a message of n bytes. */
size_t ipc_arena_max(size_t n);

#endif
