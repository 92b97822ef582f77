/* The Kerberos tickets of whoever runs this program, used in this process: how a client proves who
 * it is, without keytab of a daemon and without selvedge-gss. Tickets are where kinit puts them
 * (FILE, DIR, KEYRING, KCM: libkrb5's matter), or come from a keytab of the user's own.
 *
 * The library is loaded by ipc_ticket_new() (gss-library.h). A handshake's steps run on a thread of
 * their own (common/worker.h): a KDC that does not answer holds up no loop. Hostile: tokens of
 * servers, which the library parses. */
#ifndef SELVEDGE_WIRE_IPC_TICKET_H
#define SELVEDGE_WIRE_IPC_TICKET_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "common/identity/principal.h"
#include "wire/ipc/ipc-client.h"

struct gssapi_handshake;
struct ipc_ticket;

/* Each may be NULL. */
struct ipc_ticket_config {
    const char *principal; /* whose tickets; NULL: of the cache's principal */
    /* A file with the principal's key, which is then needed: tickets are taken with it, kept in
     * memory and renewed with the handshakes, for as long as the program runs. */
    const char *keytab;
    const char *cache; /* without a keytab: "/tmp/x", "KCM:"; NULL: $KRB5CCNAME, or krb5.conf's */
};

/* Looks for the ticket; asks no KDC. -ENOKEY: there is none; -EKEYEXPIRED; -EINVAL: no principal;
 * -ELIBACC: no library. The text says what to do. */
int ipc_ticket_new(const struct ipc_ticket_config *cfg, struct ipc_ticket **ret,
                   struct sv_error *err) _must_use_;
struct ipc_ticket *ipc_ticket_free(struct ipc_ticket *t); /* accepts NULL; handshakes go on */
static inline void ipc_ticket_freep(struct ipc_ticket **t)
{
    *t = ipc_ticket_free(*t);
}
const char *ipc_ticket_principal(const struct ipc_ticket *t); /* "alice@EXAMPLE.COM" */
/* Where the tickets are, for $KRB5CCNAME of libraries that find their own; NULL: where they look
 * without it. */
const char *ipc_ticket_cache(const struct ipc_ticket *t);

/* A handshake for wire/sasl/gssapi.h with the server of this principal. A KDC that is away, and a
 * ticket that has ended since, are failures that may pass (-EAGAIN); others are final (-EACCES).
 * `key`: which names the server, for messages; outlives the handshake. */
int ipc_ticket_initiator(const struct ipc_ticket *t, sd_event *event, const char *target,
                         const char *key, struct gssapi_handshake **ret) _must_use_;

/* How a program with tickets calls a service: `ipc` is for ipc_client_config.kerberos, the rest is
 * private. Must not move while a client uses it. */
struct ipc_ticket_service {
    struct ipc_kerberos ipc;
    const struct ipc_ticket *ticket;
    sd_event *event;
    struct sv_server_name server; /* its texts are the caller's, and outlive the service */
    char own_host[256];
};
/* `key`, for messages, `configured` and `pattern`: see struct sv_server_name. `event`: the loop of
 * the service's clients. */
void ipc_ticket_service_init(struct ipc_ticket_service *s, const struct ipc_ticket *t,
                             sd_event *event, const char *key, const char *configured,
                             const char *pattern);

#endif
