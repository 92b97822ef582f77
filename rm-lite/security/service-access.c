/* See service-access.h. Connections that are open already outlive a change of the lists, as in
 * Hadoop. */
#include "rm-lite/security/service-access.h"

#include <errno.h>

#include "common/identity/service-policy.h"
#include "common/str.h"
#include "rm-lite/security/node-principal.h"
#include "wire/ipc/methods.h"

#define TELL_MS 5000 /* between two messages about refused peers, which may be many */

int rm_service_access_read(struct rm *rm, struct sv_error *err)
{
    struct sv_policy *fresh;
    int r;

    if (!rm->conf.authorization)
        return 0;
    r = sv_policy_load(sv_services_resourcemanager, sv_conf_dir(rm->xml), &fresh, err);
    if (r < 0)
        return r;
    if (r > 0)
        sv_log_warning("hadoop.security.authorization is true, and %s has no " SV_POLICY_FILE
                       ": what it does not say admits everybody, as in Hadoop",
                       sv_conf_dir(rm->xml));
    sv_policy_free(rm->policy);
    rm->policy = fresh;
    return 0;
}

void rm_service_access_free(struct rm *rm)
{
    rm->policy = sv_policy_free(rm->policy);
}

static void tell(struct rm *rm, const struct ipc_peer *peer, const char *why)
{
    int64_t now = sv_now_ms();

    if (rm->refusal_told_ms && now - rm->refusal_told_ms < TELL_MS)
        return;
    rm->refusal_told_ms = SV_MAX(now, (int64_t)1);
    sv_log_warning("connection from %s refused: %s", peer->address, why);
}

/* In the words of Hadoop's ServiceAuthorizationManager. */
static int check_node(const struct rm *rm, const struct ipc_peer *peer, const char *protocol,
                      struct sv_error *err)
{
    struct sv_error why = { 0 };
    int r = rm_node_principal_check(rm->conf.kerberos.nodes, peer->principal ?: "", &why);

    if (r >= 0)
        return r;
    return sv_error_set(err, r, "User %s (auth:%s) is not authorized for protocol interface %s: %s",
                        peer->full_user ?: peer->user, ipc_peer_method(peer), protocol, why.text);
}

static int check_policy(const struct rm *rm, const struct ipc_peer *peer, const char *protocol,
                        struct sv_error *err)
{
    /* The name of a token of 8030 is an application attempt's, which is in no group. */
    bool attempt = sv_streq(protocol, YARN_APPLICATION_MASTER_PROTOCOL);
    const struct sv_policy_caller caller = { .user = peer->user,
                                             .method = ipc_peer_method(peer),
                                             .real_user = peer->real_user,
                                             .ip = &peer->ip,
                                             .groups = attempt ? NULL : rm->groups };

    return sv_policy_check(rm->policy, protocol, &caller, err);
}

static int check(void *userdata, const struct ipc_peer *peer, const char *protocol,
                 struct sv_error *err)
{
    struct rm *rm = userdata;
    struct sv_error why = { 0 };
    int r = 0;

    if (rm->conf.kerberos.own.on && sv_streq(protocol, YARN_RESOURCE_TRACKER_PROTOCOL))
        r = check_node(rm, peer, protocol, &why);
    if (r >= 0 && rm->policy)
        r = check_policy(rm, peer, protocol, &why);
    if (r == -EACCES)
        tell(rm, peer, why.text);
    if (r < 0 && err)
        *err = why;
    return r;
}

ipc_authorization rm_service_access(const struct rm *rm)
{
    return rm->conf.authorization || rm->conf.kerberos.own.on ? check : NULL;
}
