/* Inside of the IPC server: connections and calls. Only ipc_server.c, ipc_conn.c, ipc_serve.c,
 * ipc_auth.c and ipc_call.c include this.
 *
 *   ipc_server.c  listening, accepting, deadlines
 *   ipc_conn.c    bytes in and out of one connection, pausing, closing
 *   ipc_auth.c    connection header, SASL, connection context
 *   ipc_serve.c   frames → calls → handlers; ProtocolMetaInfoPB
 *   ipc_call.c    answers */
#ifndef SELVEDGE_WIRE_IPC_CONN_H
#define SELVEDGE_WIRE_IPC_CONN_H

#include <systemd/sd-event.h>

#include "common/buf.h"
#include "proto/rpc.pb-c.h"
#include "wire/ipc_server.h"
#include "wire/sasl.h"

#define IPC_STATUS(name) HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__RPC_STATUS_PROTO__##name
#define IPC_DETAIL(name) HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__RPC_ERROR_CODE_PROTO__##name
#define IPC_SASL_STATE(name) HADOOP__COMMON__RPC_SASL_PROTO__SASL_STATE__##name

#define JAVA_RPC_SERVER_EXCEPTION "org.apache.hadoop.ipc.RpcServerException"
#define JAVA_RPC_NO_SUCH_METHOD "org.apache.hadoop.ipc.RpcNoSuchMethodException"
#define JAVA_RPC_NO_SUCH_PROTOCOL "org.apache.hadoop.ipc.RpcNoSuchProtocolException"
#define JAVA_RPC_VERSION_MISMATCH "org.apache.hadoop.ipc.RPC$VersionMismatch"

enum conn_state {
    CONN_HEADER,  /* waits for the 7 bytes */
    CONN_SASL,    /* negotiates */
    CONN_CONTEXT, /* waits for the connection context */
    CONN_READY,   /* calls */
    CONN_CLOSING, /* a last answer is on its way; what arrives is thrown away */
};

/* What an answer repeats of its request's header. */
struct ipc_echo {
    int32_t call_id;
    int32_t retry_count;
    uint8_t client_id_len;
    uint8_t client_id[64];
};

struct ipc_conn {
    unsigned refs;             /* one of the server's list, one of each open call, one of a dispatch */
    struct ipc_server *server; /* NULL once closed */
    struct ipc_conn *prev, *next;         /* the server's list */
    struct ipc_conn *pre_prev, *pre_next; /* its list of those not READY yet, oldest first */
    struct ipc_conn *dirty_prev, *dirty_next;
    int fd;
    sd_event_source *io;
    enum conn_state state;
    uint32_t events;     /* epoll events asked for */
    bool in_pre, in_dirty;
    bool busy;           /* inside a dispatch, which flushes at its end */
    bool paused;         /* too many open calls or unsent bytes: not reading */
    bool eof;            /* the peer sends no more */
    bool negotiated;     /* SASL: NEGOTIATE was answered */
    struct sv_buf in;    /* a frame that is not complete yet, or frames held back while paused */
    struct sv_buf out;
    size_t inflight;
    size_t calls_memory; /* arenas of the open calls */
    size_t charged;      /* part of the server's `memory` */
    int64_t since_ms;    /* of the state: accepted, or closing */
    int64_t active_ms;   /* last byte received or call finished */
    int64_t frame_ms;    /* when the incomplete frame began; 0 = none */
    int64_t write_ms;    /* last progress while bytes wait to be sent; 0 = none wait */
    size_t discarded;    /* while closing */
    struct sasl_server *sasl;
    struct ipc_peer peer; /* texts below */
    char *user, *real_user;
    uint8_t *token_id;
    char address[56];
};

struct ipc_server {
    sd_event *event;
    int fd;
    uint16_t port;
    sd_event_source *listen, *timer, *flush;
    struct ipc_server_config cfg;
    struct ipc_limits limits; /* without zeros */
    struct ipc_conn *conns, *pre, *dirty;
    size_t n_conns, n_pre;
    size_t memory; /* buffers and open calls of all connections */
    int64_t wake_ms;   /* the timer's time; INT64_MAX = off */
    int64_t resume_ms; /* when to accept again after EMFILE; 0 = accepting */
    uint8_t *scratch;  /* IPC_READ_CHUNK bytes for recv */
};

struct ipc_call {
    struct ipc_conn *conn;
    struct sv_arena *arena; /* holds this too */
    const struct ipc_method *method;
    size_t memory; /* of the arena when the handler got it */
    struct ipc_echo echo;
};

/* ipc_server.c */
void ipc_server_wake_at(struct ipc_server *s, int64_t at_ms); /* a deadline that may be the next */
void ipc_server_room(struct ipc_server *s);                   /* a descriptor was closed */
void ipc_server_mark_dirty(struct ipc_conn *c);               /* flush and resume it soon */

/* ipc_conn.c */
int ipc_conn_new(struct ipc_server *s, int fd, const char *address);
void ipc_conn_ref(struct ipc_conn *c);
void ipc_conn_unref(struct ipc_conn *c);
void ipc_conn_close(struct ipc_conn *c);
void ipc_conn_settle(struct ipc_conn *c); /* sends, and goes on with what was held back */
int64_t ipc_conn_deadline(const struct ipc_conn *c);
void ipc_conn_set_state(struct ipc_conn *c, enum conn_state state);
/* Queues a last answer; the connection closes when it is sent. */
void ipc_conn_fatal(struct ipc_conn *c, const struct ipc_echo *echo, int detail,
                    const char *java_class, const char *fmt, ...) _printf_(5, 6);
void ipc_conn_finish(struct ipc_conn *c); /* closes when everything is sent */

/* ipc_auth.c. All return 0, or -errno: close at once. */
int ipc_auth_header(struct ipc_conn *c, const uint8_t *p, size_t n, size_t *ret_used);
int ipc_auth_sasl(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena *a,
                  const uint8_t *p, size_t n);
int ipc_auth_context(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena *a,
                     const uint8_t *p, size_t n);

/* ipc_serve.c */
int ipc_serve_frame(struct ipc_conn *c, const uint8_t *p, size_t n);

/* ipc_call.c */
int ipc_answer_status(struct ipc_conn *c, const struct ipc_echo *echo, int status, int detail,
                      const char *java_class, const char *text);
int ipc_answer_success(struct ipc_conn *c, const struct ipc_echo *echo,
                       const ProtobufCMessage *body);
void ipc_call_fail_detail(struct ipc_call *call, int detail, const char *java_class,
                          const char *fmt, ...) _printf_(4, 5);

#endif
