/* The caller's files: definitions and their sources, opened when they are first needed. */
#include "service/cluster/internal.h"
#include "service/cluster/login.h"

int svc_cluster_store(struct svc_cluster *c, struct svc_store **ret, struct sv_error *err)
{
    int credentials = -1, r = c->store ? 0 : svc_login_credentials(c, &credentials, err);

    if (r == 0 && !c->store)
        r = svc_store_open(c->cfg.conf, c->cfg.user, credentials, &c->store, err);
    if (r == 0)
        *ret = c->store;
    return r;
}

int svc_cluster_sources(struct svc_cluster *c, struct svc_sources **ret, struct sv_error *err)
{
    int credentials = -1, r = c->sources ? 0 : svc_login_credentials(c, &credentials, err);

    if (r == 0 && !c->sources)
        r = svc_sources_open(c->cfg.conf, c->cfg.user, credentials, &c->sources, err);
    if (r == 0)
        *ret = c->sources;
    return r;
}
