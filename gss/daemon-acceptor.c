/* See daemon-acceptor.h. Hostile: principals of clients, which another realm may have issued. */
#include "gss/daemon-acceptor.h"

#include <string.h>

static int handshake(const struct ipc_acceptor *base, struct gssapi_handshake **ret)
{
    const struct sgss_acceptor *a = base->userdata;

    return sgss_client_acceptor(sgss_daemon_client(a->daemon), base->principal, ret);
}

static int local_name(const struct ipc_acceptor *base, const char *principal,
                      char ret[SASL_USER_MAX], struct sv_error *err)
{
    const struct sgss_acceptor *a = base->userdata;

    return sv_auth_to_local(a->conf->rules, principal, strlen(principal), ret, err);
}
_Static_assert(SASL_USER_MAX == SV_LOCAL_NAME_MAX + 1, "a name of the rules fits");

void sgss_acceptor_init(struct sgss_acceptor *a, struct sgss_daemon *d,
                        const struct sgss_conf *conf)
{
    *a = (struct sgss_acceptor){
        .ipc = { .principal = conf->principal,
                 .handshake = handshake,
                 .local_name = local_name,
                 .userdata = a },
        .daemon = d,
        .conf = conf,
    };
}
