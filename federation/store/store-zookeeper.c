/* The store in ZooKeeper, on nodes that Hadoop's ZookeeperFederationStateStore reads and writes.
 * Hostile: every name and value that a server answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/zookeeper/zk-conf.h"
#include "federation/store/backends.h"
#include "federation/store/zk-operations.h"

static void begin(struct fed_store *s, struct fed_call *c)
{
    fed_zk_begin(fed_store_backend(s), c);
}

static void forget(struct fed_store *s, struct fed_call *c)
{
    fed_zk_forget(fed_store_backend(s), c);
}

/* Requests that are open end in sv_zk_free(), and with them their runs. */
static void zookeeper_free(void *backend)
{
    struct fed_zk *z = backend;

    sv_zk_free(z->zk);
    free(z->root);
    free(z->acl_text);
    free(z);
}

static const struct fed_backend functions = { begin, forget, zookeeper_free };

static void on_event(enum sv_zk_event event, void *userdata)
{
    if (event == SV_ZK_UP)
        fed_zk_connected(userdata);
}

static int start(sd_event *event, const struct fed_zookeeper_options *o, struct fed_zk *z,
                 struct sv_error *err)
{
    const struct sv_zk_config cfg = { .servers = o->settings->servers,
                                      .session_ms = o->settings->session_ms,
                                      .acl = z->acl,
                                      .n_acl = o->settings->n_acl,
                                      .event = on_event,
                                      .userdata = z };

    z->root = strdup(o->root);
    if (!z->root)
        return sv_error_errno(err, -ENOMEM, "federation store in ZooKeeper");
    z->split = o->split;
    z->start = fed_zk_start;
    memcpy(z->acl, o->settings->acl, sizeof(z->acl));
    z->acl_text = SV_TAKE(o->settings->acl_text);
    return sv_zk_new(event, &cfg, &z->zk, err);
}

int fed_store_open_zookeeper(sd_event *event, const struct fed_zookeeper_options *o,
                             struct fed_store **ret, struct sv_error *err)
{
    struct fed_zk *z = calloc(1, sizeof(*z));
    char *text = NULL;
    int r = z ? start(event, o, z, err) : sv_error_errno(err, -ENOMEM, "federation store");

    if (r == 0 && sv_asprintf(&text, "zookeeper://%s%s", o->settings->servers, o->root) < 0)
        r = sv_error_errno(err, -ENOMEM, "federation store in ZooKeeper");
    if (r < 0) {
        if (z)
            zookeeper_free(z);
        return r;
    }
    r = fed_store_new(event, &functions, z, text, ret);
    free(text);
    if (r < 0)
        return sv_error_errno(err, r, "federation store in ZooKeeper");
    if (o->patience_ms > 0)
        fed_store_patience(*ret, o->patience_ms);
    return 0;
}
