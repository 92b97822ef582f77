/* See proxy-users.h. */
#include "router/proxy-users.h"

#include <errno.h>

#include "common/ldap/ldap-groups.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/proxy-users.h"

/* Groups of a user, or hosts. */
static void on_known(void *userdata)
{
    struct router *r = userdata;

    if (r->server)
        ipc_server_ask_again(r->server);
}

int rtr_proxy_users_start(struct router *r, struct sv_conf *conf, struct sv_error *err)
{
    struct sv_groups_conf groups = { .cache_ms = r->conf.auth.groups_cache_ms,
                                     .negative_ms = r->conf.auth.groups_negative_ms,
                                     .overrides = r->conf.auth.groups_overrides,
                                     .known = on_known,
                                     .userdata = r };
    int e = sv_ldap_groups_source(conf, &groups.source, err);

    if (e < 0)
        return e;
    e = sv_groups_new(r->event, &groups, &r->groups);
    sv_groups_source_unref(&groups.source);
    if (e >= 0)
        e = ipc_proxy_users_new(r->event, on_known, r, &r->proxy_users);
    if (e < 0)
        return sv_error_errno(err, e, "proxy users");
    return ipc_proxy_users_read(r->proxy_users, conf, err);
}

void rtr_proxy_users_stop(struct router *r)
{
    r->proxy_users = ipc_proxy_users_free(r->proxy_users);
    r->groups = sv_groups_free(r->groups);
}

int rtr_proxy_users_check(void *userdata, const struct ipc_peer *peer, struct sv_error *err)
{
    const struct router *r = userdata;

    return ipc_proxy_users_check(r->proxy_users, r->groups, peer, err);
}
