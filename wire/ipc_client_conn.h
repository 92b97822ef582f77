/* Inside of the IPC client. Only ipc_client.c (calls, deadlines) and ipc_client_conn.c (the
 * connection: names, TCP, SASL, bytes, answers) include this. */
#ifndef SELVEDGE_WIRE_IPC_CLIENT_CONN_H
#define SELVEDGE_WIRE_IPC_CLIENT_CONN_H

#include <systemd/sd-event.h>
#include <uthash.h>

#include "common/buf.h"
#include "proto/rpc.pb-c.h"
#include "wire/ipc_client.h"
#include "wire/resolve.h"
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
    int64_t connect_ms, call_ms, idle_ms, ping_ms;
    size_t max_frame;
    uint8_t id[16];
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
    struct sv_buf in, out; /* out: handshake and pings; calls are sent from their own frames */
    uint8_t *scratch;
    int64_t connect_deadline_ms, active_ms, sent_ms;
    int64_t wake_ms; /* the timer's time; INT64_MAX = off */

    struct client_call *unsent, *sent, *over, *by_id;
};

/* ipc_client.c */
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

/* ipc_client_conn.c */
void ipc_client_pump(struct ipc_client *c); /* connects or writes if there is something to send */
void ipc_client_disconnect(struct ipc_client *c);
void ipc_client_ping(struct ipc_client *c);
void ipc_client_connect_timeout(struct ipc_client *c);

#endif
