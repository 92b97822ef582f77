/* Hadoop IPC version 9, server side, on one sd-event loop.
 *
 * A server is a listening socket plus a table of protocols, each a table of methods. A handler gets
 * the decoded request (protobuf-c message in the call's arena) and answers at once or later; later
 * means that it keeps the call and finishes it with ipc_call_reply/ipc_call_fail. Connections,
 * bytes and times are bounded by `struct ipc_limits`. The peer is hostile until authenticated and
 * not trusted afterwards. */
#ifndef SELVEDGE_WIRE_IPC_IPC_SERVER_H
#define SELVEDGE_WIRE_IPC_IPC_SERVER_H

#include <netinet/in.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <systemd/sd-event.h>

#include "common/arena.h"
#include "common/base.h"
#include "common/error.h"
#include "common/rpc-counters.h"
#include "wire/exceptions.h"
#include "wire/sasl/digest-exchange.h"

struct gssapi_handshake;
struct ipc_server;
struct ipc_call;

/* The authenticated peer. Valid as long as the call. */
struct ipc_peer {
    bool token;            /* authenticated by SASL TOKEN */
    const char *principal; /* authenticated by SASL KERBEROS: its full name, "alice@REALM"; else
                            * NULL. Without both it is SIMPLE, and names are claimed ones */
    const char *user;      /* effective user. TOKEN: name that the verifier returned; KERBEROS: the
                            * account */
    const char *full_user; /* KERBEROS: `user` before auth_to_local, as the client named it, which
                            * is `principal` where it acts for nobody; else NULL */
    const char *real_user; /* who acts for `user`, or NULL; KERBEROS: the account of `principal` */
    const char *address;   /* "127.0.0.1:4711" */
    struct in6_addr ip;    /* as above without the port; IPv4 as mapped */
    const uint8_t *token_id; /* TOKEN: identifier bytes as received */
    size_t token_id_len;
};
/* Hadoop's name of the method that authenticated the peer. */
static inline const char *ipc_peer_method(const struct ipc_peer *p)
{
    return p->token ? "TOKEN" : p->principal ? "KERBEROS" : "SIMPLE";
}

/* Handles one request. `request` is unpacked with the method's descriptor, has passed the nesting
 * pre-scan and lives in ipc_call_arena(call). Must lead to exactly one ipc_call_reply or
 * ipc_call_fail, at once or later. */
typedef void (*ipc_handler)(struct ipc_call *call, const ProtobufCMessage *request, void *userdata);

struct ipc_method {
    const char *name; /* "startContainers" */
    const ProtobufCMessageDescriptor *request, *response;
    ipc_handler handler; /* NULL: answers ERROR_NO_SUCH_METHOD */
};

/* A method answered as Hadoop answers it when its feature is disabled. */
struct ipc_method_off {
    const char *name;
    bool refused; /* answered by an exception; else with an empty result */
    const char *why;
};

struct ipc_protocol {
    const char *name; /* "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB" */
    uint64_t version; /* 1 */
    const struct ipc_method *methods;
    size_t n_methods;
    /* NULL-terminated names of methods that must not run twice when a client repeats a call after a
     * lost answer; NULL = none. Their answers are cached for a while (wire/ipc/ipc-retry.h). */
    const char *const *once;
    const struct ipc_method_off *off; /* for ipc_print_methods; ends without a name; or NULL */
};

struct ipc_limits {               /* 0 = the default in brackets */
    size_t max_frame;             /* [128 MiB] ipc.maximum.data.length */
    size_t max_frame_preauth;     /* [64 KiB; with Kerberos 68 KiB] until authenticated */
    size_t max_connections;       /* [10000]; for one more, the idlest of the address that has the
                                   * most is closed */
    size_t max_per_address;       /* [256] from one client address; for one more, its idlest is
                                   * closed. Of one IPv6 /64: half of max_connections. A peer that
                                   * Kerberos has authenticated counts for its principal instead */
    size_t max_preauth;           /* [1024] connections not yet authenticated, without Kerberos and
                                   * tokens not yet READY; one more drops the one for whose next
                                   * message its login has waited the longest */
    size_t max_inflight_per_conn; /* [1000] calls; reading pauses beyond */
    size_t max_outq_per_conn;     /* [16 MiB] unsent bytes; reading pauses beyond */
    size_t max_memory;            /* [512 MiB] buffers and open calls of all connections together;
                                   * beyond it the connection that holds the most is closed */
    int64_t header_ms;     /* [30000] from accept to the connection header: where packets were
                            * lost for 10 s, TCP repeats it after 13 */
    int64_t handshake_ms;  /* [30000] from accept to the connection context */
    int64_t patience_ms;   /* [1000] for a step of its login, before newcomers end it */
    int64_t request_ms;    /* [60000] for a frame that has begun, + 1 s for each 64 KiB of it */
    int64_t idle_ms;       /* [120000] ipc.client.connection.maxidletime × 2 … */
    int64_t write_ms;      /* [60000] no progress while writing */
    size_t crowd;          /* [4000] with more connections … ipc.client.idlethreshold */
    int64_t crowd_idle_ms; /* [20000] … idle ones are closed sooner */
    int backlog;           /* [1024] ipc.server.listen.queue.size */
    size_t retry_entries;  /* [4096] cached answers for repeated calls */
    size_t retry_bytes;    /* [16 MiB] of them together */
    int64_t retry_ms;      /* [600000] lifetime of a cached answer */
};

/* Whether peer->real_user may act for peer->user (Hadoop's proxy users), of a SIMPLE or KERBEROS
 * connection: 0; -EACCES with an error message, which with KERBEROS names peer->principal and
 * peer->full_user; -EAGAIN: not known yet, the callback runs again after ipc_server_ask_again(),
 * and within limits.handshake_ms. With KERBEROS both may be one account: alice@REALM who calls
 * herself alice is a proxy to Hadoop, too. */
typedef int (*ipc_impersonation)(void *userdata, const struct ipc_peer *peer, struct sv_error *err);

/* Whether the peer, authenticated and allowed to act for peer->user, may use `protocol`, the class
 * that its connection is for (Hadoop's service authorization). Answers as ipc_impersonation. */
typedef int (*ipc_authorization)(void *userdata, const struct ipc_peer *peer, const char *protocol,
                                 struct sv_error *err);

/* SASL KERBEROS of a server. Outlives it. */
struct ipc_acceptor {
    const char *principal; /* full: "nm/host@REALM"; its first two parts are offered */
    /* A handshake with one more client (gss/client.h). 0 or -errno. */
    int (*handshake)(const struct ipc_acceptor *a, struct gssapi_handshake **ret);
    /* The account of an authenticated client, by its principal, or of the user for whom it wants to
     * act, by any name: hadoop.security.auth_to_local. 0; -errno: the client is refused. It is told
     * that no rule applies, not err->text, which may show the rules. */
    int (*local_name)(const struct ipc_acceptor *a, const char *principal, char ret[SASL_USER_MAX],
                      struct sv_error *err);
    void *userdata;
};

struct ipc_server_config {
    const char *host;  /* numeric address or name; NULL = 127.0.0.1 */
    uint16_t port;     /* 0 = any free */
    int *listen_fd;    /* a listening socket, ownership taken, in place of host and port; NULL or -1
                        * = none */
    bool allow_simple; /* without meaning where `kerberos` is set: a secure server
                        * neither offers SIMPLE nor takes it */
    ipc_token_verifier verify_token;     /* NULL = TOKEN is not offered; may answer -EAGAIN */
    const struct ipc_acceptor *kerberos; /* NULL = KERBEROS is not offered */
    ipc_impersonation impersonation;     /* NULL = nobody acts for others */
    ipc_authorization authorization; /* NULL = whoever is authenticated uses every protocol; else a
                                      * connection is for the one that it names first */
    uint32_t qop_mask; /* wire/sasl/qop.h, hadoop.rpc.protection; offered to TOKEN and KERBEROS
                          connections; 0 = IPC_QOP_AUTH */
    const struct ipc_protocol *const *protocols; /* NULL-terminated; static */
    void *userdata;                              /* for handlers and the verifier */
    void *auth_userdata; /* for the verifier, impersonation and authorization; NULL = userdata */
    int64_t priority;    /* of the event sources, as in sd_event: a server with a higher number is
                            served when those with lower ones are idle */
    int64_t gather_us; /* 0, or polling interval under load: requests are served together this often
                        * instead of individually */
    struct ipc_limits limits;
};

/* Prints a line per method for docs/compat.md: protocol, method, "honoured", "ignored" or
 * "refused", reason, separated by tabs. */
void ipc_print_methods(FILE *out, const struct ipc_protocol *p);

int ipc_server_new(sd_event *event, const struct ipc_server_config *cfg, struct ipc_server **ret,
                   struct sv_error *err) _must_use_;
/* Stops listening, drops connections; calls held by handlers stay valid until finished. */
struct ipc_server *ipc_server_free(struct ipc_server *s);
uint16_t ipc_server_port(const struct ipc_server *s);
/* Asks cfg.verify_token, cfg.impersonation and cfg.authorization again for the connections that
 * wait for them. */
void ipc_server_ask_again(struct ipc_server *s);
/* Asks cfg.verify_token again for the connections that wait for it, of whose token identifiers
 * `concerns` says so. */
void ipc_server_ask_again_token(struct ipc_server *s,
                                bool (*concerns)(const uint8_t *id, size_t id_len, void *userdata),
                                void *userdata);
/* Inside of cfg.verify_token: who presents the token, of whom the address alone is known. Elsewhere
 * NULL. */
const struct ipc_peer *ipc_server_verifying(const struct ipc_server *s);
size_t ipc_server_connections(const struct ipc_server *s);
size_t ipc_server_memory(const struct ipc_server *s); /* the figure limited by limits.max_memory */
size_t ipc_server_open_calls(const struct ipc_server *s); /* that a handler has not answered yet */
const struct sv_rpc_counters *ipc_server_counters(const struct ipc_server *s);
/* Times of calls by method: of all methods, in the order of the protocols. */
const struct sv_rpc_method *ipc_server_methods(const struct ipc_server *s, size_t *ret_n);

const struct ipc_peer *ipc_call_peer(const struct ipc_call *call);
struct sv_arena *ipc_call_arena(struct ipc_call *call); /* freed when the call is finished */
/* Packs and queues the answer, finishes the call. */
void ipc_call_reply(struct ipc_call *call, const ProtobufCMessage *response);
/* As ipc_call_reply_packed() of the bytes behind the cursor, which are not copied: before them are
 * IPC_FRAME_FRONT free bytes. The buffer is taken and left empty. */
void ipc_call_reply_taken(struct ipc_call *call, struct sv_buf *answer);
/* As ipc_call_reply(), with an answer already packed into n bytes. */
void ipc_call_reply_packed(struct ipc_call *call, const uint8_t *response, size_t n);
/* Answers with a Java exception ("org.apache.hadoop.yarn.exceptions.YarnException") whose message
 * is the formatted text; Hadoop's client rebuilds it. Finishes the call. */
void ipc_call_fail(struct ipc_call *call, const char *java_class, const char *fmt, ...)
    _printf_(3, 4);

#endif
