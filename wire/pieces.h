/* Messages whose size a peer chooses, read and written in several turns of a loop: their lists of
 * messages a few members at a time, the rest at once. Hostile: the bytes. */
#ifndef SELVEDGE_WIRE_PIECES_H
#define SELVEDGE_WIRE_PIECES_H

#include "common/arena.h"
#include "common/buf.h"
#include "wire/frame.h"

#define IPC_PIECES_MORE 1
/* Bytes of the rest of one message: of all that is not in lists of messages. */
#define IPC_PIECES_REST_MAX (8u << 20)
/* Bytes that cost as much as a member of a list. */
#define IPC_PIECE_BYTES 512

struct ipc_reading; /* in the arena */

/* Begins to read n bytes, which stay where they are between two calls of ipc_reading_run(), or are
 * moved (ipc_reading_move()). -ENOMEM. */
int ipc_reading_new(struct sv_arena *a, const ProtobufCMessageDescriptor *d, const uint8_t *p,
                    size_t n, struct ipc_reading **ret) _must_use_;
/* The bytes are at `p` from now on. */
void ipc_reading_move(struct ipc_reading *r, const uint8_t *p);
/* Reads on until *left members and their like are taken from *left, which ends below 0 where the
 * last one was large. 0: *ret is the message, as of ipc_unpack(); IPC_PIECES_MORE; -EBADMSG;
 * -EMSGSIZE: a member, or the rest, has more than IPC_REQUEST_ITEMS_MAX messages, or the rest more
 * than IPC_PIECES_REST_MAX bytes. */
int ipc_reading_run(struct ipc_reading *r, int64_t *left, ProtobufCMessage **ret) _must_use_;
/* Frees what is not the arena's. Accepts NULL, returns NULL. */
struct ipc_reading *ipc_reading_end(struct ipc_reading *r);

/* Packs a message behind what `out` has. */
struct ipc_writing {
    const ProtobufCMessage *m; /* outlives it */
    struct sv_buf *out;
    bool begun;
    unsigned field;
    size_t at;
};
/* 0: done; IPC_PIECES_MORE; -ENOMEM, -EMSGSIZE: `out` has a part of it. */
int ipc_writing_run(struct ipc_writing *w, int64_t *left) _must_use_;

#endif
