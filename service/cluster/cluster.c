/* See cluster.h. */
#include "service/cluster/cluster.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "service/cluster/internal.h"
#include "service/cluster/login.h"

/* ---- Definitions ---- */

static int read_text(void *b, const char *service, const char *version, char **ret,
                     struct sv_error *err)
{
    struct svc_store *s;
    int r = svc_cluster_store(b, &s, err);

    return r < 0 ? r : svc_store_read(s, service, version, ret, err);
}

static int create(void *b, const char *service, const char *version, const char *json,
                  struct sv_error *err)
{
    struct svc_store *s;
    int r = svc_cluster_store(b, &s, err);

    return r < 0 ? r : svc_store_create(s, service, version, json, err);
}

static int replace(void *b, const char *service, const char *json, struct sv_error *err)
{
    struct svc_store *s;
    int r = svc_cluster_store(b, &s, err);

    return r < 0 ? r : svc_store_replace(s, service, json, err);
}

static int remove_all(void *b, const char *service, struct sv_error *err)
{
    struct svc_store *s;
    int r = svc_cluster_store(b, &s, err);

    return r < 0 ? r : svc_store_remove(s, service, err);
}

static int count(void *b, int most, struct sv_error *err)
{
    struct svc_store *s;
    int r = svc_cluster_store(b, &s, err);

    return r < 0 ? r : svc_store_count(s, most, err);
}

static int look(void *b, const char *name, struct sv_error *err)
{
    struct svc_sources *s;
    int r = svc_cluster_sources(b, &s, err);

    if (r >= 0)
        r = svc_sources_look(s, name, err);
    return r < 0 ? r : r == SVC_SOURCE_DIRECTORY;
}

/* ---- The cluster ---- */

int svc_cluster_new(const struct svc_cluster_config *cfg, struct svc_cluster **ret,
                    struct sv_error *err)
{
    struct svc_cluster *c = calloc(1, sizeof(*c));
    int r = c ? sd_event_new(&c->event) : -ENOMEM;

    if (r < 0) {
        (void)svc_cluster_free(c);
        return sv_error_errno(err, r, "event loop");
    }
    c->cfg = *cfg;
    c->until_ms = sv_now_ms() + cfg->deadline_ms;
    c->backend = (struct svc_backend){ .userdata = c,
                                       .read = read_text,
                                       .create = create,
                                       .replace = replace,
                                       .remove = remove_all,
                                       .count = count,
                                       .look = look,
                                       .live = svc_rm_live,
                                       .submit = svc_submit,
                                       .report = svc_rm_report,
                                       .kill = svc_rm_kill,
                                       .ended = svc_rm_ended,
                                       .set_lifetime = svc_rm_set_lifetime };
    svc_master_functions(&c->backend);
    *ret = c;
    return 0;
}

struct svc_cluster *svc_cluster_free(struct svc_cluster *c)
{
    if (c) {
        c->rm = cli_rm_free(c->rm);
        c->store = svc_store_close(c->store);
        c->sources = svc_sources_close(c->sources);
        c->token_arena = sv_arena_wipe(c->token_arena);
        c->login = svc_login_free(c->login);
        c->event = sd_event_unref(c->event);
        free(c);
    }
    return NULL;
}

int svc_cluster_log_in(struct svc_cluster *c, struct sv_error *err)
{
    return c->cfg.kerberos ? svc_login_open(c, err) : 0;
}

const struct svc_backend *svc_cluster_backend(struct svc_cluster *c)
{
    return &c->backend;
}
