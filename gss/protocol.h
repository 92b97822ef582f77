/* The protocol between a daemon and its selvedge-gss: one packet of a SOCK_SEQPACKET socket is one
 * message. Hostile: both sides for the other. A message that does not follow this ends the
 * connection: the helper exits, the daemon kills and starts it again.
 *
 * Numbers are big-endian. A text is its length (2 bytes), its bytes and a NUL; a name has no
 * control character and no blank, words are printable. Data is its length (4 bytes) and its bytes.
 *
 *   request: version 1, kind 1, id 8, handshake 8, deadline 4, name principal, name target, token
 *   answer:  version 1, 0x80, id 8, status 1, flags 1, until 8, name, words, token, context */
#ifndef SELVEDGE_GSS_PROTOCOL_H
#define SELVEDGE_GSS_PROTOCOL_H

#include "common/base.h"
#include "common/buf.h"
#include "wire/sasl/gssapi.h"

#define SGSS_VERSION 1
#define SGSS_NAME_MAX 255 /* bytes of a principal; IPC_NAME_MAX */
#define SGSS_WORDS_MAX 1000
#define SGSS_TOKEN_MAX GSSAPI_TOKEN_MAX
#define SGSS_CONTEXT_MAX GSS_EXPORTED_MAX
#define SGSS_FRAME_MAX (SGSS_TOKEN_MAX + SGSS_CONTEXT_MAX + 4096u)
#define SGSS_DEADLINE_MAX_MS 60000
/* The principal of a request of SGSS_WEB: any key that begins with SGSS_WEB_PREFIX. */
#define SGSS_WEB_ANY "*"
#define SGSS_WEB_PREFIX "HTTP/"

enum sgss_kind {
    SGSS_ACCEPT = 1, /* a token of an initiator for `principal`, whose key is in the keytab */
    SGSS_INIT,       /* a token for `target`, or its answer, as `principal` */
    SGSS_LOGIN,      /* a ticket for `principal`; it is renewed from then on */
    SGSS_FORGET,     /* drop a handshake that will not go on; no answer */
    SGSS_WEB,        /* the only token of a web client, of SPNEGO or of Kerberos; no context */
};

struct sgss_request {
    enum sgss_kind kind;
    uint64_t id;          /* of the daemon's choice, answered once; FORGET: 0 */
    uint64_t handshake;   /* of the daemon's choice, the same for each step; LOGIN, WEB: 0 */
    uint32_t deadline_ms; /* from receipt; FORGET: 0 */
    const char *principal;
    const char *target; /* INIT, else "" */
    const uint8_t *token;
    size_t token_len; /* 0 with INIT: the first step */
};

enum sgss_status {
    SGSS_OK,       /* the handshake is complete, the ticket is there */
    SGSS_MORE,     /* the handshake goes on with the peer's next token */
    SGSS_REFUSED,  /* the peer's token or ticket */
    SGSS_NOT_ABLE, /* our keytab, ticket or KDC */
    SGSS_BUSY,     /* too many requests or handshakes */
    SGSS_LATE,     /* the deadline passed before its turn */
    SGSS_STATUSES,
};

enum sgss_flags {
    SGSS_MUTUAL = 1,
    SGSS_INTEGRITY = 2,
    SGSS_PRIVACY = 4,
    SGSS_ORDERED = 8, /* replays and gaps are noticed */
    SGSS_FLAGS = 15,
};

struct sgss_answer {
    uint64_t id;
    enum sgss_status status;
    uint8_t flags;     /* of the context */
    uint64_t until;    /* OK: end of the ticket, of LOGIN or of the context, seconds since 1970 */
    const char *name;  /* OK of ACCEPT and WEB: the initiator's principal; of INIT: the target's */
    const char *words; /* of a failure: what failed and why, for people */
    const uint8_t *token;
    size_t token_len;
    const uint8_t *context; /* exported; OK of ACCEPT and INIT */
    size_t context_len;
};

/* Append one message. -EINVAL: it would not be accepted by the other side. */
int sgss_request_put(struct sv_buf *b, const struct sgss_request *m) _must_use_;
int sgss_answer_put(struct sv_buf *b, const struct sgss_answer *m) _must_use_;
/* Parse a whole packet; texts and data point into it. -EBADMSG. */
int sgss_request_get(const uint8_t *p, size_t n, struct sgss_request *ret) _must_use_;
int sgss_answer_get(const uint8_t *p, size_t n, struct sgss_answer *ret) _must_use_;
/* Room for a packet of any size in the socket's buffer, as far as the kernel allows. */
void sgss_socket_prepare(int fd);
/* Copies a text with what is not printable replaced, for `words`. */
void sgss_words(char dst[SGSS_WORDS_MAX + 1], const char *src);

#endif
