/* Hadoop IPC version 9, client side, on one sd-event loop.
 *
 * An ipc_client talks to one protocol at one address as one identity over one connection, which it
 * opens on the first call, keeps, and re-opens when lost. Calls are multiplexed. Every call has a
 * deadline; its callback runs exactly once: with the answer, with the reason why there is none, or
 * with -ECANCELED from inside ipc_client_cancel or ipc_client_free. It never resends a call that
 * the server may have seen: wire/ipc/proxy.h does, by Hadoop's rules. */
#ifndef SELVEDGE_WIRE_IPC_IPC_CLIENT_H
#define SELVEDGE_WIRE_IPC_IPC_CLIENT_H

#include <protobuf-c/protobuf-c.h>
#include <systemd/sd-event.h>

#include "common/arena.h"
#include "common/base.h"
#include "common/error.h"

struct gssapi_handshake;
struct ipc_client;
struct yarn_token;

#define IPC_PRINCIPAL_MAX 256 /* with the NUL */

/* SASL KERBEROS: who we are, who a server must be, and who computes the handshake. */
struct ipc_kerberos {
    const char *principal; /* "nm/host@REALM" */
    /* The principal that the server on `host` must have, "rm/host@REALM", whatever the server says,
     * and a new handshake with it (gss/client.h). 0 or -errno. */
    int (*handshake)(const struct ipc_kerberos *k, const char *host,
                     char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret);
    /* As `handshake`, and used in its place unless NULL, for servers that a pattern admits:
     * `offered` is what the server says that it is, "rm/host", hostile and without a realm. */
    int (*recognize)(const struct ipc_kerberos *k, const char *host, const char *offered,
                     char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret,
                     struct sv_error *err);
    void *userdata;
};

struct ipc_client_config {
    const char *host; /* numeric address or "localhost"; other names are resolved when connecting,
                       * outside the loop's thread */
    uint16_t port;
    const char *protocol; /* "org.apache.hadoop.yarn.server.api.ResourceTrackerPB" */
    uint64_t version;     /* 1 */
    const char *user;     /* SIMPLE identity; NULL = the process' user name */
    const char *for_user; /* SIMPLE and KERBEROS: acts for this user, whom the server must let it
                           * be (Hadoop's proxy users); NULL: for itself */
    const struct yarn_token *token; /* copied; SASL TOKEN when given */
    /* Without a token: SASL KERBEROS, else SIMPLE. Outlives the client. Such a client is
     * `principal`, `user` is not sent. */
    const struct ipc_kerberos *kerberos;
    uint32_t qop_mask;  /* wire/sasl/qop.h, hadoop.rpc.protection: accepted with SASL; the best
                           that  the server offers is chosen; 0 = IPC_QOP_AUTH */
    int64_t connect_ms; /* from the first SYN to a usable connection; 0 = 20000 */
    int64_t call_ms;    /* 0 = 120000 */
    int64_t idle_ms;    /* an unused connection is closed; 0 = 10000, <0 = kept */
    int64_t ping_ms;    /* while answers are awaited; 0 = 60000, ipc.ping.interval */
    size_t max_frame;   /* 0 = 128 MiB */
    const uint8_t *client_id; /* IPC_CLIENT_ID_LEN bytes; NULL = a new one. Clients of one identity
                                 share it, so that servers recognize a resent call */
};

#define IPC_CLIENT_ID_LEN 16 /* a random UUID, as in Java's client */
int ipc_client_id_new(uint8_t ret[IPC_CLIENT_ID_LEN]) _must_use_;

/* status: 0, or -errno: -ETIMEDOUT, -ECONNREFUSED, -ECONNRESET, -ECANCELED (client freed), …;
 * -EREMOTEIO = the server answered with an exception, in java_class and err->text. `response` is
 * valid only during the callback. */
struct ipc_result {
    int status;
    const ProtobufCMessage *response; /* NULL unless status == 0 */
    const uint8_t *body; /* of a call without a response descriptor: the answer, packed and not */
    size_t body_len;     /* looked at yet; valid only during the callback */
    const char *java_class;  /* with -EREMOTEIO, else NULL */
    struct sv_arena **arena; /* NULL unless status == 0 */
    bool sent; /* false: the request certainly never reached the server, so a retry is safe */
};
/* `arena`: of the response, which lives on in it where the callback takes it (SV_TAKE(*r->arena)).
 */
typedef void (*ipc_done)(const struct ipc_result *r, const struct sv_error *err, void *userdata);

int ipc_client_new(sd_event *event, const struct ipc_client_config *cfg, struct ipc_client **ret,
                   struct sv_error *err) _must_use_;
/* Finishes open calls with -ECANCELED before it returns. */
struct ipc_client *ipc_client_free(struct ipc_client *c);

/* Packs the request now. `done` is never called from inside this function. call_ms 0 = the
 * client's. A request that was not sent completely when an established connection broke is resent
 * once over a new one. `method` and `response` must outlive the call. */
int ipc_client_call(struct ipc_client *c, const char *method, const ProtobufCMessage *request,
                    const ProtobufCMessageDescriptor *response, int64_t call_ms, ipc_done done,
                    void *userdata) _must_use_;

/* As ipc_client_call(), with all parameters of a call. */
struct ipc_request {
    const char *method;                         /* must outlive the call, as `response` */
    const ProtobufCMessageDescriptor *response; /* NULL: the answer is given as bytes */
    const uint8_t *body; /* the packed parameter, copied; may be NULL if it is empty */
    size_t body_len;
    int64_t call_ms;     /* 0 = the client's */
    int32_t id;          /* 0 = the next free one; that of the first attempt when resent */
    int32_t retry_count; /* number of earlier attempts */
};
/* *ret_id (may be NULL) is for ipc_client_cancel. -EEXIST: the id is in use. */
int ipc_client_start(struct ipc_client *c, const struct ipc_request *q, ipc_done done,
                     void *userdata, int32_t *ret_id) _must_use_;
/* Cancels an open call: its callback runs with -ECANCELED before this returns, and a late answer is
 * dropped. The server is not notified (Hadoop IPC has no such message). False if there is no such
 * call. */
bool ipc_client_cancel(struct ipc_client *c, int32_t id);

/* For command lines and tests: runs the loop until the answer arrives and copies it into `a`.
 * `ret_class` (may be NULL) receives the Java class (in `a`) with -EREMOTEIO. */
int ipc_client_call_sync(struct ipc_client *c, const char *method, const ProtobufCMessage *request,
                         const ProtobufCMessageDescriptor *response, struct sv_arena *a,
                         ProtobufCMessage **ret, const char **ret_class, struct sv_error *err)
    _must_use_;

#endif
