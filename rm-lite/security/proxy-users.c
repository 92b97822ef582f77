/* See proxy-users.h. */
#include "rm-lite/security/proxy-users.h"

#include <errno.h>

#include "common/web/http.h"

static void on_known(void *userdata)
{
    rm_proxy_users_known(userdata);
}

int rm_proxy_users_read(struct rm *rm, struct sv_conf *conf, struct sv_error *err)
{
    if (!rm->proxy_users && ipc_proxy_users_new(rm->event, on_known, rm, &rm->proxy_users) < 0)
        return sv_error_errno(err, -ENOMEM, "proxy users");
    return ipc_proxy_users_read(rm->proxy_users, conf, err);
}

void rm_proxy_users_stop(struct rm *rm)
{
    rm->proxy_users = ipc_proxy_users_free(rm->proxy_users);
}

void rm_proxy_users_known(struct rm *rm)
{
    struct ipc_server *const all[] = { rm->client_server, rm->admin_server, rm->tracker_server };

    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++)
        if (all[i])
            ipc_server_ask_again(all[i]);
    sv_http_retry(rm->http);
}

int rm_proxy_users_check(void *userdata, const struct ipc_peer *peer, struct sv_error *err)
{
    const struct rm *rm = userdata;

    return ipc_proxy_users_check(rm->proxy_users, rm->groups, peer, err);
}
