/* See localization-internal.h: credentials of downloads. A job's resources are fetched with the
 * job's; PUBLIC ones, which any job may use later, with none of them: in a secure cluster the
 * daemon gets a token of its own for these. Hostile: urls, which have been checked before. */
#include "nodemanager/services/localization-internal.h"

#include <errno.h>

#include "common/fd.h"
#include "fs/credentials.h"
#include "fs/url.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/services/localization.h"

/* ---- The daemon's own ---- */

/* True if the resource is read with a token of ours. */
static bool needs_token(const struct nm_localization *l, const struct loc_resource *r,
                        struct fs_url *ret)
{
    return l->tokens && r->visibility == LOC_PUBLIC && fs_url_parse(r->url, ret, NULL) == 0 &&
           ret->scheme == FS_SCHEME_HDFS;
}

static int own_token(const struct nm_localization *l, const struct loc_resource *resource, int *ret,
                     struct sv_error *err)
{
    const struct sv_buf *token;
    struct fs_url url;
    int r;

    if (!needs_token(l, resource, &url))
        return 0;
    r = nm_hdfs_tokens_get(l->tokens, url.host, url.port, &token, err);
    if (r == -EAGAIN)
        return 1;
    if (r < 0)
        return sv_error_wrap(err, "Resource %s", resource->url);
    r = sv_memfd_readonly("credentials", token->data, token->len);
    if (r < 0)
        return sv_error_errno(err, r, "Resource %s: credentials", resource->url);
    *ret = r;
    return 0;
}

static void on_changed(void *userdata)
{
    struct nm_localization *l = userdata;

    loc_cache_credentials_came(l->cache);
}

int nm_localization_tokens_new(struct nm_localization *l)
{
    const struct nm_conf_kerberos *k = &l->ctx->conf->kerberos;

    if (!l->ctx->kerberos)
        return 0;
    sgss_service_init(&l->namenode, l->ctx->kerberos, NM_NAMENODE_PRINCIPAL, k->namenode_principal,
                      k->namenode_pattern, k->own.own_host);
    return nm_hdfs_tokens_new(&(struct nm_hdfs_tokens_config){ .event = l->ctx->event,
                                                               .conf = l->ctx->conf->conf,
                                                               .kerberos = &l->namenode.ipc,
                                                               .renewer = k->own.principal,
                                                               .qop_mask = k->own.qop_mask,
                                                               .changed = on_changed,
                                                               .userdata = l },
                              &l->tokens);
}

void nm_localization_tokens(const struct nm_localization *l, struct nm_hdfs_tokens_counts *ret)
{
    if (l->tokens)
        nm_hdfs_tokens_counts(l->tokens, ret);
    else
        *ret = (struct nm_hdfs_tokens_counts){ 0 };
}

bool nm_localization_refused(void *userdata, const struct loc_resource *r)
{
    const struct nm_localization *l = userdata;
    struct fs_url url;

    return needs_token(l, r, &url) && nm_hdfs_tokens_refused(l->tokens, url.host, url.port);
}

/* ---- The job's ---- */

/* Credentials renewed by the ResourceManager replace the container's, all of them. */
static int of_job(const struct nm_localization *l, struct yarn_container_id id, int *ret,
                  struct sv_error *err)
{
    char text[YARN_ID_TEXT_MAX];
    const struct nm_container *c = nm_container_find(l->ctx, yarn_container_id_text(id, text));
    const Hadoop__Yarn__ContainerLaunchContextProto *clc = c ? nm_localization_context(c) : NULL;
    const void *p = NULL;
    size_t n = 0;
    int fd;

    if (!c || !c->app)
        return 0; /* its description fails */
    if (!nm_credentials_of(l->ctx->credentials, c->app->text, &p, &n) && clc && clc->has_tokens) {
        p = clc->tokens.data;
        n = clc->tokens.len;
    }
    if (n == 0)
        return 0;
    fd = n > FS_CREDENTIALS_MAX ? -E2BIG : sv_memfd_readonly("credentials", p, n);
    if (fd < 0)
        return sv_error_errno(err, fd, "credentials of %s", text);
    *ret = fd;
    return 0;
}

int nm_localization_credentials(void *userdata, struct yarn_container_id id,
                                const struct loc_resource *r, int *ret, struct sv_error *err)
{
    return r->visibility == LOC_PUBLIC ? own_token(userdata, r, ret, err)
                                       : of_job(userdata, id, ret, err);
}
