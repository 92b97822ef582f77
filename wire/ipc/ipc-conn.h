/* Private to the IPC server: connections and calls. One connection object, split by phase into
 * files that call each other (a listed call cycle):
 *
 *   ipc-server.c  listening, accepting, deadlines
 *   ipc-address.c connections by client address or principal: selects the one to close
 *   ipc-unproved.c those not authenticated yet: selects the one to close
 *   ipc-conn.c    input and output of one connection, pausing, closing
 *   ipc-auth.c    connection header, SASL
 *   ipc-kerberos.c SASL KERBEROS: handshakes, names of a client
 *   ipc-context.c connection context: users, authorization
 *   ipc-serve.c   frames → calls → handlers; ProtocolMetaInfoPB
 *   ipc-call.c    answers
 *   ipc-out.c     their way out, in turns
 *   ipc-retry.c   cached answers for repeated calls */
#ifndef SELVEDGE_WIRE_IPC_IPC_CONN_H
#define SELVEDGE_WIRE_IPC_IPC_CONN_H

#include <netinet/in.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>
#include <uthash.h>

#include "common/buf.h"
#include "proto/rpc.pb-c.h"
#include "wire/ipc/ipc-server.h"
#include "wire/sasl/sasl-layer.h"
#include "wire/sasl/sasl.h"

#define IPC_STATUS(name) HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__RPC_STATUS_PROTO__##name
#define IPC_DETAIL(name) HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__RPC_ERROR_CODE_PROTO__##name
#define IPC_SASL_STATE(name) HADOOP__COMMON__RPC_SASL_PROTO__SASL_STATE__##name

#define JAVA_IPC_EXCEPTION "org.apache.hadoop.ipc.IpcException"
#define JAVA_CLASS_NOT_FOUND "java.lang.ClassNotFoundException"
#define JAVA_RPC_SERVER_EXCEPTION "org.apache.hadoop.ipc.RpcServerException"
#define JAVA_RPC_NO_SUCH_METHOD "org.apache.hadoop.ipc.RpcNoSuchMethodException"
#define JAVA_RPC_NO_SUCH_PROTOCOL "org.apache.hadoop.ipc.RpcNoSuchProtocolException"
#define JAVA_RPC_VERSION_MISMATCH "org.apache.hadoop.ipc.RPC$VersionMismatch"

#define IPC_FREE_ARENAS 16 /* arenas */
#define IPC_BATCH 64       /* connections served before other sources of the loop are dispatched */
#define IPC_LOGINS 8       /* of those that are not authenticated, for each such batch */
#define IPC_OUT_TURN (256u << 10) /* bytes of answers that one turn sends */

enum conn_state {
    CONN_HEADER,  /* expects the 7 bytes */
    CONN_SASL,    /* negotiates */
    CONN_CONTEXT, /* expects the connection context */
    CONN_READY,   /* calls */
    CONN_CLOSING, /* a last answer is in transit; input is discarded */
};

/* Fields of the request's header that the answer repeats. */
struct ipc_echo {
    int32_t call_id;
    int32_t retry_count;
    uint8_t client_id_len;
    uint8_t client_id[64];
};

/* The addresses of an IPv6 network that have connections: one machine may have all of its /64. */
struct ipc_network {
    UT_hash_handle hh;
    struct in6_addr ip; /* sv_address_network() */
    size_t addresses, connections;
};

/* The connections of a client address; of one that has authenticated itself by Kerberos, from
 * anywhere, those of its principal. */
struct ipc_address {
    UT_hash_handle hh;
    struct ipc_network *network; /* NULL for IPv4 and for a principal */
    struct in6_addr ip;          /* IPv4 as mapped */
    char *principal;             /* NULL: of the address */
    struct ipc_conn *conns;      /* least recently used first; pings do not count as use */
    size_t n;
};

struct ipc_conn {
    unsigned refs;                /* held by the server's list, each open call, a dispatch */
    struct ipc_server *server;    /* NULL once closed */
    struct ipc_conn *prev, *next; /* the server's list */
    struct ipc_conn *pre_prev, *pre_next; /* the server's list of those not READY yet; the longest
                                           * without a step of its login first */
    struct ipc_conn *dirty_prev, *dirty_next;
    int fd;
    int epoll; /* one of the server's two */
    enum conn_state state;
    uint32_t events; /* requested epoll events */
    bool in_pre, in_dirty;
    bool proved;      /* authenticated: does not count in n_pre */
    bool busy;        /* inside a dispatch, which flushes at its end */
    bool paused;      /* not reading: too many open calls or unsent bytes */
    bool asks;        /* paused in CONN_CONTEXT: the answer of cfg.impersonation or of
                       * cfg.authorization is not known */
    bool eof;         /* the peer will send no more */
    bool negotiated;  /* SASL: NEGOTIATE was answered */
    bool initiated;   /* SASL: an offer was taken */
    bool kerberos;    /* that offer was KERBEROS */
    bool computes;    /* paused in CONN_SASL: a step of the exchange is not computed yet, or the
                       * token is not known yet */
    struct sv_buf in; /* an incomplete frame, or frames held back while paused */
    struct sv_buf out;
    struct sasl_layer *layer; /* integrity or privacy: all later bytes are wrapped, both ways */
    struct sv_buf plain;      /* with a layer: answers to be wrapped into `out` */
    struct ipc_part *parts;   /* ipc-out.c: answers behind `out`, with a layer behind `plain` */
    struct sv_buf inner;      /* with a layer: unwrapped bytes of incomplete or held-back frames */
    size_t inflight;
    size_t calls_memory; /* arenas of the open calls */
    size_t step_memory;  /* the token of the step that is computed, which waits elsewhere */
    size_t charged;      /* included in the server's `memory` */
    int64_t since_ms;    /* start of the state: accepted, or closing */
    int64_t step_ms;     /* in `pre`: last step of its login */
    int64_t active_ms;   /* last byte received or call finished */
    int64_t frame_ms;    /* start of the incomplete frame; 0 = none */
    int64_t inner_ms;    /* likewise for a frame in `inner` */
    int64_t received_us; /* time of the last receipt, CLOCK_MONOTONIC */
    int64_t write_ms;    /* last progress while bytes are unsent; 0 = none are */
    size_t discarded;    /* while closing */
    struct sasl_server *sasl;
    struct ipc_peer peer; /* texts below */
    char *user, *real_user, *principal, *full_user;
    const struct ipc_protocol *protocol; /* with cfg.authorization: what it was authorized for */
    uint8_t *token_id;
    struct ipc_address *from;
    struct ipc_conn *from_prev, *from_next; /* the address's list */
    char address[56];
};

/* The current batch of epoll events, not all handled yet. */
struct ipc_batch {
    struct epoll_event ready[IPC_BATCH], logins[IPC_LOGINS];
    int n, at, n_logins;
    bool busy;
    bool gone; /* a handler freed the server meanwhile */
};

/* Cached meaning of the last call's request header, by its bytes. */
struct ipc_route {
    uint8_t header[192];
    size_t len; /* 0: none */
    const struct ipc_protocol *protocol;
    const struct ipc_method *method;
};

struct ipc_server {
    sd_event *event;
    int fd;
    int epoll;  /* all connections; one source of the loop, which is slow with thousands of
                 * sources */
    int logins; /* within it, an epoll of those that are not authenticated: however many they are,
                 * others are served between a few of them */
    uint16_t port;
    sd_event_source *listen, *io, *timer, *flush, *gather;
    struct ipc_batch *batch;
    struct ipc_server_config cfg;
    struct ipc_limits limits;     /* without zeros */
    char *service, *service_host; /* with cfg.kerberos: the first parts of the principal */
    struct ipc_conn *conns, *pre, *dirty;
    const struct ipc_conn *verifying; /* whose token cfg.verify_token is asked about; NULL */
    struct ipc_address *addresses, *principals;
    struct ipc_network *networks;
    struct ipc_route route;
    struct ipc_retry_cache *retry; /* NULL if no protocol needs it */
    size_t n_conns;
    size_t n_pre;        /* of `pre`, those that are not authenticated */
    int64_t patience_ms; /* with them, limits.patience_ms at most; ipc-unproved.c */
    size_t open_calls;   /* of the connections in `conns` */
    struct sv_rpc_counters counters;
    struct sv_rpc_method *times; /* of each method; ipc-times.c */
    size_t n_times;
    size_t memory;               /* buffers and open calls of all connections */
    int64_t wake_ms;             /* the timer's time; INT64_MAX = off */
    int64_t resume_ms;           /* when to accept again after EMFILE; 0 = accepting */
    int64_t turn_end_us;         /* end of the last turn; for gather_us */
    int quick_turns, slow_turns; /* consecutive ones */
    uint8_t *scratch;            /* IPC_READ_CHUNK bytes for recv */
    struct sv_arena *free_arenas[IPC_FREE_ARENAS]; /* empty arenas for the next requests */
    size_t n_free_arenas;
};

struct ipc_call {
    struct ipc_conn *conn;
    struct sv_arena *arena; /* holds this too */
    const struct ipc_method *method;
    size_t memory;                 /* of the arena when the handler got it */
    int64_t begun_us;              /* as received_us */
    struct ipc_retry_entry *retry; /* its answer is to be cached */
    struct ipc_call *waits;        /* next call waiting for the same answer */
    struct ipc_echo echo;
};

/* ipc-server.c */
int64_t ipc_now_us(void);                                     /* CLOCK_MONOTONIC */
void ipc_server_wake_at(struct ipc_server *s, int64_t at_ms); /* a deadline, maybe the next one */
struct sv_arena *ipc_server_arena(struct ipc_server *s, size_t max_bytes); /* NULL: no memory */
void ipc_server_arena_done(struct ipc_server *s, struct sv_arena *a);      /* s may be NULL */
/* A descriptor was closed, or a login ended: accepting goes on, if it waits. */
void ipc_server_room(struct ipc_server *s);
void ipc_server_mark_dirty(struct ipc_conn *c); /* flush and resume soon */

/* ipc-times.c */
int ipc_times_open(struct ipc_server *s) _must_use_;
/* `m`: NULL, or a method of the server's protocols or of one that it does not count. */
void ipc_times_add(struct ipc_server *s, const struct ipc_method *m, int64_t us);

/* ipc-address.c */
/* Checks the limits for a new connection from this address: *ret_gives_way is the connection to
 * close first, or NULL. -EUSERS: the new connection is rejected. */
int ipc_address_room(const struct ipc_server *s, const struct sockaddr_storage *sa,
                     struct ipc_conn **ret_gives_way) _must_use_;
struct ipc_address *ipc_address_get(struct ipc_server *s, const struct sockaddr_storage *sa);
void ipc_address_put(struct ipc_server *s,
                     struct ipc_address *a); /* frees one without connections */
void ipc_address_join(struct ipc_address *a, struct ipc_conn *c);
void ipc_address_leave(struct ipc_server *s, struct ipc_conn *c);
void ipc_address_used(struct ipc_conn *c); /* a call began or ended */
/* Its peer is c->principal, whose connection it is from now on, in place of its address's. The
 * principal's idlest is closed beyond limits.max_per_address. -ENOMEM. */
int ipc_address_authenticated(struct ipc_conn *c) _must_use_;

/* ipc-unproved.c */
void ipc_unproved_add(struct ipc_server *s, struct ipc_conn *c);
void ipc_unproved_leave(struct ipc_conn *c);
void ipc_unproved_ready(struct ipc_conn *c); /* it leaves as one that is served */
/* Its ticket or token was taken: it is not among those that give way. */
void ipc_unproved_end(struct ipc_conn *c);
void ipc_unproved_stepped(struct ipc_conn *c); /* a message of its peer was handled */
/* True: its login waits for the peer, for longer than the server's patience. */
bool ipc_unproved_gives_way(const struct ipc_conn *c);
void ipc_unproved_gave_way(struct ipc_server *s, const struct ipc_conn *c); /* it is closed next */
/* Checks the limit for one more: *ret_gives_way is the one to close first, or NULL. -EAGAIN: not
 * now, logins go on. */
int ipc_unproved_room(const struct ipc_server *s, struct ipc_conn **ret_gives_way) _must_use_;

/* ipc-conn.c */
int ipc_conn_new(struct ipc_server *s, int fd, const struct sockaddr_storage *sa,
                 const char *address, struct ipc_address *from);
void ipc_conn_ref(struct ipc_conn *c);
void ipc_conn_unref(struct ipc_conn *c);
void ipc_conn_close(struct ipc_conn *c);
void ipc_conn_io(struct ipc_conn *c, uint32_t revents);
void ipc_conn_settle(struct ipc_conn *c); /* sends, then handles held-back input */
int64_t ipc_conn_deadline(const struct ipc_conn *c);
void ipc_conn_set_state(struct ipc_conn *c, enum conn_state state);
/* Queues a last answer; the connection closes once it is sent. */
void ipc_conn_fatal(struct ipc_conn *c, const struct ipc_echo *echo, int detail,
                    const char *java_class, const char *fmt, ...) _printf_(5, 6);
void ipc_conn_finish(struct ipc_conn *c); /* closes once everything is sent */
/* Handles unwrapped bytes of a WRAP message: part of a stream of frames. -errno: close. */
int ipc_conn_unwrapped(struct ipc_conn *c, const uint8_t *p, size_t n) _must_use_;

/* ipc-auth.c. All return 0, or -errno: close at once. */
int ipc_auth_header(struct ipc_conn *c, const uint8_t *p, size_t n, size_t *ret_used);
int ipc_auth_sasl(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena *a,
                  const uint8_t *p, size_t n);
/* Goes on with a login whose token the verifier did not know yet. */
void ipc_auth_ask_again(struct ipc_conn *c);
/* Handles a SASL message once there is a layer. */
int ipc_auth_wrapped(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena *a,
                     const uint8_t *p, size_t n);
/* The last answer, for a peer that is not who it must be, or may not do what it wants. */
int ipc_auth_refuse(struct ipc_conn *c, const struct ipc_echo *echo, const char *java_class,
                    const char *text);

/* ipc-kerberos.c */
/* Reads cfg.kerberos, NULL included. */
int ipc_kerberos_open(struct ipc_server *s, struct sv_error *err) _must_use_;
/* Makes the exchange c->sasl; `ready` gets the connection. */
int ipc_kerberos_begin(struct ipc_conn *c, sasl_ready ready) _must_use_;
/* The names of the client, once it is authenticated. -EACCES: the error is for it; other values:
 * close at once. */
int ipc_kerberos_peer(struct ipc_conn *c, struct sv_error *err) _must_use_;
/* The users of its connection context, each may be NULL. As above. */
int ipc_kerberos_users(struct ipc_conn *c, const char *effective, const char *real,
                       struct sv_error *err) _must_use_;

/* ipc-context.c */
/* 0, or -errno: close at once. */
int ipc_context_take(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena *a,
                     const uint8_t *p, size_t n);
/* Ends the context of a connection that `asks`, if the answer is known now. */
void ipc_context_ask_again(struct ipc_conn *c);

/* ipc-serve.c */
const struct ipc_protocol *ipc_protocol_find(const struct ipc_server *s, const char *name);
/* `inner`: the frame is from a WRAP message. */
int ipc_serve_frame(struct ipc_conn *c, const uint8_t *p, size_t n, bool inner);

/* ipc-call.c */

/* ipc-out.c */
void ipc_buf_trim(struct sv_buf *b); /* drops what is read; frees a large buffer */
/* The buffer to which the next answer is appended. -ENOMEM. */
int ipc_out_answers(struct ipc_conn *c, struct sv_buf **ret) _must_use_;
/* Takes a large answer, a whole frame; on failure it is unchanged. -ENOMEM. */
int ipc_out_hand_over(struct ipc_conn *c, struct sv_buf *frame) _must_use_;
size_t ipc_out_left(const struct ipc_conn *c);   /* bytes not sent yet */
size_t ipc_out_memory(const struct ipc_conn *c); /* bytes allocated */
int ipc_out_turn(struct ipc_conn *c) _must_use_; /* sends IPC_OUT_TURN at most; -errno: close */
void ipc_out_free(struct ipc_conn *c);
int ipc_answer_status(struct ipc_conn *c, const struct ipc_echo *echo, int status, int detail,
                      const char *java_class, const char *text);
int ipc_answer_success(struct ipc_conn *c, const struct ipc_echo *echo,
                       const ProtobufCMessage *body);
/* Finishes the call with a packed answer. */
void ipc_call_answer(struct ipc_call *call, const uint8_t *body, size_t n);
void ipc_call_fail_detail(struct ipc_call *call, int detail, const char *java_class,
                          const char *fmt, ...) _printf_(4, 5);

#endif
