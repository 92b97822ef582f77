/* Inside of the IPC client. Only ipc-client.c (calls, deadlines), ipc-client-conn.c (the
 * connection: names, TCP, bytes, answers) and ipc-client-sasl.c (who the server is) include this.
 */
#ifndef SELVEDGE_WIRE_IPC_CLIENT_CONN_H
#define SELVEDGE_WIRE_IPC_CLIENT_CONN_H

#include <systemd/sd-event.h>
#include <uthash.h>

#include "common/buf.h"
#include "proto/rpc.pb-c.h"
#include "wire/ipc-client.h"
#include "wire/resolve.h"
#include "wire/sasl-layer.h"
#include "wire/sasl.h"

#define IPC_STATUS(name) HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__RPC_STATUS_PROTO__##name
#define IPC_SASL_STATE(name) HADOOP__COMMON__RPC_SASL_PROTO__SASL_STATE__##name

enum client_state {
    CLIENT_IDLE, /* no connection */
    CLIENT_RESOLVING,
    CLIENT_CONNECTING,
    CLIENT_SASL,
    CLIENT_READY,
};

struct client_call {
    struct client_call *prev, *next; /* in unsent, sent or over */
    UT_hash_handle hh;               /* by_id: while an answer may come */
    int32_t id;
    const char *method;
    const ProtobufCMessageDescriptor *response;
    struct sv_buf frame; /* freed when it is sent */
    bool sent;           /* the last byte was given to the kernel */
    bool again;          /* has been given a second connection */
    bool cancelled;      /* its callback has run; only the rest of its frame must still go out */
    int64_t deadline_ms;
    ipc_done done;
    void *userdata;
};

struct ipc_client {
    unsigned refs; /* the owner, and each dispatch */
    bool freed;
    sd_event *event;
    char *host, *protocol, *user;
    char where[300]; /* "host:port" for error texts */
    uint16_t port;
    uint64_t version;
    struct yarn_token *token; /* own copy, or NULL */
    uint32_t qop_mask;
    int64_t connect_ms, call_ms, idle_ms, ping_ms;
    size_t max_frame;
    uint8_t id[IPC_CLIENT_ID_LEN];
    int32_t next_id;

    enum client_state state;
    int fd;
    sd_event_source *io, *timer, *pump;
    uint32_t events;
    struct ipc_resolve *resolve;
    struct ipc_addresses addresses;
    size_t address; /* the one being tried */
    int connect_errno;
    struct sasl_client *sasl;
    struct sasl_layer *layer; /* integrity or privacy: all that follows is wrapped, both ways */
    struct sv_buf inner;      /* with a layer: unwrapped bytes of an answer that is cut */
    struct sv_buf in, out;    /* out: handshake and pings; calls are sent from their own frames */
    uint8_t *scratch;
    int64_t connect_deadline_ms, active_ms, sent_ms;
    int64_t wake_ms; /* the timer's time; INT64_MAX = off */

    struct client_call *unsent, *sent, *over, *by_id;
};

/* ipc-client.c */
void ipc_client_ref(struct ipc_client *c);
void ipc_client_unref(struct ipc_client *c);
void ipc_client_wake_at(struct ipc_client *c, int64_t at_ms);
void ipc_client_pump_later(struct ipc_client *c);
void ipc_client_sent(struct ipc_client *c, struct client_call *call);
/* Takes the call out of every list and runs its callback; the client may be freed inside. */
void ipc_client_finish(struct ipc_client *c, struct client_call *call, const struct ipc_result *r,
                       const struct sv_error *err);
/* The connection broke. status: -errno of it. `java_class` with -EREMOTEIO. */
void ipc_client_broken(struct ipc_client *c, int status, const char *java_class,
                       const struct sv_error *err);

/* ipc-client-conn.c */
void ipc_client_pump(struct ipc_client *c); /* connects or writes if there is something to send */
void ipc_client_disconnect(struct ipc_client *c);
void ipc_client_ping(struct ipc_client *c);
void ipc_client_connect_timeout(struct ipc_client *c);
/* Takes a connected socket in place of a connection of its own: for fuzzing what arrives. */
int ipc_client_attach(struct ipc_client *c, int fd) _must_use_;
void ipc_client_write(struct ipc_client *c); /* as much as the socket takes */

/* ipc-client-sasl.c */
Hadoop__Common__RpcRequestHeaderProto ipc_client_header(const struct ipc_client *c,
                                                        int32_t call_id);
/* Puts what goes first into c->out: connection header, then context or the wish to negotiate. */
int ipc_client_put_hello(struct ipc_client *c) _must_use_;
/* A SASL message. 0, or negative after the connection was given up. */
int ipc_client_on_sasl(struct ipc_client *c, struct sv_arena *a, const uint8_t *p, size_t n)
    _must_use_;

/* ipc-client-layer.c. All return 0, or -errno: the connection is to be given up. */
/* With a layer: wraps what was just put into c->out, which holds nothing else. */
int ipc_client_layer_cover(struct ipc_client *c) _must_use_;
/* With a layer: takes calls into c->out, wrapped, while there is room. They count as sent from here
 * on: the layer has numbered them, so they cannot be taken back. */
int ipc_client_layer_calls(struct ipc_client *c) _must_use_;
/* A WRAP message; what it holds is appended to c->inner, a stream of frames. */
int ipc_client_layer_read(struct ipc_client *c, struct sv_arena *a, const uint8_t *p, size_t n)
    _must_use_;

#endif
