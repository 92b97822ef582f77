/* See dial.h. Hostile: addresses, which other members and operators write into the federation's
 * store. */
#include "nodemanager/amrmproxy/dial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gss/daemon.h"
#include "wire/ipc/methods.h"

#define HOST_MAX 255
#define ANSWER_MAX ((size_t)64 << 20) /* bytes of an answer: some 100,000 containers */

/* Splits "host:port" or "[host]:port". */
static int split(const char *address, char host[HOST_MAX + 1], uint16_t *ret_port)
{
    const char *colon = strrchr(address, ':');
    size_t n = colon ? (size_t)(colon - address) : 0, digits = colon ? strlen(colon + 1) : 0;
    unsigned long port;

    if (!n || n > HOST_MAX || !digits || digits > 5 || strspn(colon + 1, "0123456789") != digits)
        return -EINVAL;
    port = strtoul(colon + 1, NULL, 10);
    if (!port || port > UINT16_MAX)
        return -EINVAL;
    if (*address == '[' && address[n - 1] == ']' && n > 2) {
        address++;
        n -= 2;
    }
    memcpy(host, address, n);
    host[n] = 0;
    *ret_port = (uint16_t)port;
    return 0;
}

/* Sets the caller: the attempt by its token; the NodeManager for the application's user. */
static int set_caller(const struct nm_amrm_env *env, const struct nm_amrm_dial *d,
                      struct ipc_client_config *c, struct sv_error *err)
{
    c->version = 1;
    if (d->service == YARN_RM_SCHEDULER) {
        c->protocol = YARN_APPLICATION_MASTER_PROTOCOL;
        c->token = d->token;
        if (!d->token)
            return sv_error_set(err, -EINVAL, "AMRMProxy: no AMRMToken");
        return 0;
    }
    c->protocol = YARN_APPLICATION_CLIENT_PROTOCOL;
    if (env->kerberos) {
        c->kerberos = &env->kerberos->ipc;
        c->for_user = d->user;
    } else {
        c->user = d->user;
    }
    return 0;
}

int nm_amrm_dial(const struct nm_amrm_env *env, const struct nm_amrm_dial *d,
                 struct ipc_proxy **ret, struct sv_error *err)
{
    struct ipc_proxy_config cfg = *env->own_rm;
    char host[HOST_MAX + 1];
    int r;

    if (d->address) {
        cfg.n_servers = 1;
        cfg.servers[0] = (struct ipc_proxy_server){ .host = host };
        if (split(d->address, host, &cfg.servers[0].port) < 0)
            return sv_error_set(err, -EINVAL, "\"%.80s\" is not an address, host:port", d->address);
        cfg.retry = (struct ipc_retry_policy){ .kind = IPC_RETRY_NEVER };
    } else if (d->service != YARN_RM_SCHEDULER) {
        return sv_error_set(err, -EINVAL, "AMRMProxy: no address of a ResourceManager");
    }
    cfg.client.max_frame =
        cfg.client.max_frame ? SV_MIN(cfg.client.max_frame, ANSWER_MAX) : ANSWER_MAX;
    if (d->connect_ms)
        cfg.client.connect_ms = d->connect_ms;
    if (d->call_ms)
        cfg.client.call_ms = d->call_ms;
    r = set_caller(env, d, &cfg.client, err);
    return r < 0 ? r : ipc_proxy_new(env->event, &cfg, ret, err);
}

const char *nm_amrm_exception_text(const struct sv_error *err)
{
    const char *method = strchr(err->text, ' '), *text = method ? strstr(method, ": ") : NULL;

    return text ? text + 2 : err->text;
}
