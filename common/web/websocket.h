/* WebSocket (RFC 6455, version 13): the handshake's proof and frames, of both sides. Pure: who uses
 * it reads and writes the bytes. Extensions are not negotiated. Hostile: frames of the peer. */
#ifndef SELVEDGE_COMMON_WEB_WEBSOCKET_H
#define SELVEDGE_COMMON_WEB_WEBSOCKET_H

#include "common/buf.h"

#define SV_WS_FRAME_MAX 65536 /* bytes of a frame's content; more is -EMSGSIZE */
#define SV_WS_HEAD_MAX 14     /* bytes of a frame's head */
#define SV_WS_ACCEPT_MAX 32   /* bytes of a proof with its NUL */

enum sv_ws_opcode {
    SV_WS_CONTINUATION = 0,
    SV_WS_TEXT = 1,
    SV_WS_BINARY = 2,
    SV_WS_CLOSE = 8,
    SV_WS_PING = 9,
    SV_WS_PONG = 10,
};

/* Codes of CLOSE. */
#define SV_WS_NORMAL 1000
#define SV_WS_AWAY 1001
#define SV_WS_PROTOCOL 1002
#define SV_WS_POLICY 1008
#define SV_WS_TOO_LARGE 1009
#define SV_WS_INTERNAL 1011

struct sv_ws_frame {
    enum sv_ws_opcode opcode; /* of a continuation: of its message */
    bool first, last;         /* of its message */
    const uint8_t *data;      /* unmasked, in the reader's buffer: until the next call */
    size_t len;
};

/* The state of one direction. */
struct sv_ws_reader {
    bool masked;             /* frames must be masked, as a client's are; else they must not */
    enum sv_ws_opcode under; /* message that is not finished; CONTINUATION: none */
};

/* Sec-WebSocket-Accept for a Sec-WebSocket-Key. -EINVAL: it is not 16 bytes in base64. */
int sv_ws_accept(const char *key, char ret[SV_WS_ACCEPT_MAX]) _must_use_;

/* Takes one frame from `in`, whose cursor moves behind it. 1: a frame; 0: more bytes are needed;
 * -EBADMSG: the peer breaks the protocol; -EMSGSIZE: its frame is too large. */
int sv_ws_read(struct sv_ws_reader *r, struct sv_buf *in, struct sv_ws_frame *ret) _must_use_;

/* Puts a frame of one message behind `out`. `mask`: a client's, 4 random bytes; NULL: a server's.
 * Fails as sv_buf_put(), with `out` unchanged. */
int sv_ws_put(struct sv_buf *out, enum sv_ws_opcode opcode, const uint8_t *mask, const void *data,
              size_t n) _must_use_;
/* CLOSE with a code and words, which are cut. */
int sv_ws_put_close(struct sv_buf *out, const uint8_t *mask, unsigned code, const char *words)
    _must_use_;

#endif
