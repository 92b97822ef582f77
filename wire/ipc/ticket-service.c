/* See ticket.h: who a service must be. Hostile: what a server says that it is. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/identity/principal.h"
#include "wire/ipc/ticket.h"

static int initiate(const struct ipc_ticket_service *s, const char *server,
                    char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret,
                    struct sv_error *err)
{
    int r;

    if (strlen(server) >= IPC_PRINCIPAL_MAX)
        return sv_error_set(err, -EACCES, "the server's Kerberos principal is longer than %d bytes",
                            IPC_PRINCIPAL_MAX - 1);
    r = ipc_ticket_initiator(s->ticket, s->event, server, s->server.key, ret);
    if (r < 0)
        return sv_error_errno(err, r, "handshake with %s", server);
    (void)snprintf(ret_server, IPC_PRINCIPAL_MAX, "%s", server);
    return 0;
}

static int on_handshake(const struct ipc_kerberos *k, const char *host,
                        char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret)
{
    const struct ipc_ticket_service *s = k->userdata;
    struct sv_server_name name = s->server;
    char server[SV_PRINCIPAL_MAX + 1];
    int r;

    name.host = host;
    r = sv_principal_of_server(&name, server);
    return r < 0 ? r : initiate(s, server, ret_server, ret, NULL);
}

static int on_offer(const struct ipc_kerberos *k, const char *host, const char *offered,
                    char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret,
                    struct sv_error *err)
{
    const struct ipc_ticket_service *s = k->userdata;
    struct sv_server_name name = s->server;
    char server[SV_PRINCIPAL_MAX + 1];
    int r;

    name.host = host;
    r = sv_principal_recognize(&name, k->principal, offered, server, err);
    return r < 0 ? r : initiate(s, server, ret_server, ret, err);
}

void ipc_ticket_service_init(struct ipc_ticket_service *s, const struct ipc_ticket *t,
                             sd_event *event, const char *key, const char *configured,
                             const char *pattern)
{
    *s = (struct ipc_ticket_service){
        .ipc = { .principal = ipc_ticket_principal(t),
                 .handshake = on_handshake,
                 .recognize = on_offer,
                 .userdata = s },
        .ticket = t,
        .event = event,
        .server = { .key = key, .configured = configured, .pattern = pattern },
    };
    if (gethostname(s->own_host, sizeof(s->own_host)) < 0)
        s->own_host[0] = 0;
    s->own_host[sizeof(s->own_host) - 1] = 0;
    s->server.own_host = s->own_host;
}
