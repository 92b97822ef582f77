/* See service-access.h. Hostile: callers' names. */
#include "router/service-access.h"

#include <errno.h>

#include "common/clock.h"
#include "common/identity/service-policy.h"
#include "common/log.h"

#define TELL_MS 5000 /* between two messages about refused peers, which may be many */

int rtr_service_access_start(struct router *r, struct sv_conf *conf, struct sv_error *err)
{
    const char *dir = sv_conf_dir(conf);
    int e;

    if (!r->conf.authorization)
        return 0;
    e = sv_policy_load(sv_services_resourcemanager, dir, &r->policy_file, err);
    if (e > 0)
        sv_log_warning("hadoop.security.authorization is true, and %s has no " SV_POLICY_FILE
                       ": what it does not say admits everybody, as in Hadoop",
                       dir);
    return e < 0 ? e : 0;
}

void rtr_service_access_stop(struct router *r)
{
    r->policy_file = sv_policy_free(r->policy_file);
}

static void tell(struct router *r, const struct ipc_peer *peer, const char *why)
{
    int64_t now = sv_now_ms();

    if (r->refusal_told_ms && now - r->refusal_told_ms < TELL_MS)
        return;
    r->refusal_told_ms = SV_MAX(now, (int64_t)1);
    sv_log_warning("connection from %s refused: %s", peer->address, why);
}

static int check(void *userdata, const struct ipc_peer *peer, const char *protocol,
                 struct sv_error *err)
{
    struct router *r = userdata;
    const struct sv_policy_caller caller = { .user = peer->user,
                                             .method = ipc_peer_method(peer),
                                             .real_user = peer->real_user,
                                             .ip = &peer->ip,
                                             .groups = r->groups };
    struct sv_error why = { 0 };
    int e = sv_policy_check(r->policy_file, protocol, &caller, &why);

    if (e == -EACCES)
        tell(r, peer, why.text);
    if (e < 0 && err)
        *err = why;
    return e;
}

ipc_authorization rtr_service_access(const struct router *r)
{
    return r->policy_file ? check : NULL;
}
