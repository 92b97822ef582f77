/* Private to the IPC client: one connection object, split by phase into files that call each other
 * (a listed call cycle): ipc-client.c (calls, deadlines), ipc-client-conn.c (name resolution, TCP,
 * input, output, answers), ipc-client-sasl.c (authentication of the server) and ipc-client-layer.c
 * (wrapping by a SASL layer). */
#ifndef SELVEDGE_WIRE_IPC_IPC_CLIENT_CONN_H
#define SELVEDGE_WIRE_IPC_IPC_CLIENT_CONN_H

#include <systemd/sd-event.h>
#include <uthash.h>

#include "common/buf.h"
#include "proto/rpc.pb-c.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/resolve.h"
#include "wire/sasl/sasl-layer.h"
#include "wire/sasl/sasl.h"

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
    UT_hash_handle hh;               /* by_id: while an answer may arrive */
    int32_t id;
    const char *method;
    const ProtobufCMessageDescriptor *response;
    struct sv_buf frame; /* freed once sent */
    bool sent;           /* the last byte was passed to the kernel */
    bool again;          /* was moved to a second connection */
    bool cancelled;      /* its callback has run; only the rest of its frame must still be sent */
    int64_t deadline_ms;
    ipc_done done;
    void *userdata;
};

struct ipc_client {
    unsigned refs; /* held by the owner and each dispatch */
    bool freed;
    sd_event *event;
    char *host, *protocol, *user, *for_user;
    char where[300]; /* "host:port" for error texts */
    uint16_t port;
    uint64_t version;
    struct yarn_token *token; /* own copy, or NULL */
    const struct ipc_kerberos *kerberos;
    char server[IPC_PRINCIPAL_MAX]; /* with kerberos: who the server must be */
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
    bool initiates; /* the next SASL message is INITIATE */
    bool computes;  /* that message waits for the helper of the handshake, not for the server */
    struct sasl_layer *layer; /* integrity or privacy: all later bytes are wrapped, both ways */
    struct sv_buf inner;      /* with a layer: unwrapped bytes of an incomplete answer */
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
void ipc_client_sent(struct ipc_client *c, struct client_call *call);
/* Removes the call from every list and runs its callback, which may free the client. */
void ipc_client_finish(struct ipc_client *c, struct client_call *call, const struct ipc_result *r,
                       const struct sv_error *err);
/* The connection failed with `status`, -errno. `java_class` with -EREMOTEIO. */
void ipc_client_broken(struct ipc_client *c, int status, const char *java_class,
                       const struct sv_error *err);

/* ipc-client-conn.c */
void ipc_client_pump(struct ipc_client *c); /* connects or writes if a call is pending */
void ipc_client_disconnect(struct ipc_client *c);
void ipc_client_ping(struct ipc_client *c);
void ipc_client_connect_timeout(struct ipc_client *c);
/* Uses a connected socket instead of connecting: for fuzzing the input side. */
int ipc_client_attach(struct ipc_client *c, int fd) _must_use_;
void ipc_client_write(struct ipc_client *c); /* as much as the socket accepts */

/* ipc-client-sasl.c */
bool ipc_client_has_sasl(const struct ipc_client *c); /* by its configuration */
Hadoop__Common__RpcRequestHeaderProto ipc_client_header(const struct ipc_client *c,
                                                        int32_t call_id);
/* Puts the first bytes into c->out: connection header, then context or NEGOTIATE. */
int ipc_client_put_hello(struct ipc_client *c) _must_use_;
/* Says what the end of the connection may mean; `ret` holds the text. */
const char *ipc_client_ended_words(const struct ipc_client *c, struct sv_error *ret);
/* Handles a SASL message. 0, or negative after the connection was closed. */
int ipc_client_on_sasl(struct ipc_client *c, struct sv_arena *a, const uint8_t *p, size_t n)
    _must_use_;

/* ipc-client-layer.c. All return 0, or -errno: close the connection. */
/* With a layer: wraps the contents of c->out, which must be unwrapped so far. */
int ipc_client_layer_cover(struct ipc_client *c) _must_use_;
/* With a layer: wraps calls into c->out up to its limit. They count as sent from then on: the layer
 * has numbered them, so they cannot be withdrawn. */
int ipc_client_layer_calls(struct ipc_client *c) _must_use_;
/* Unwraps a WRAP message and appends its content to c->inner, a stream of frames. */
int ipc_client_layer_read(struct ipc_client *c, struct sv_arena *a, const uint8_t *p, size_t n)
    _must_use_;

#endif
