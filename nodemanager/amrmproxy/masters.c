/* See masters.h. */
#include "nodemanager/amrmproxy/masters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/amrmproxy/attempt.h"
#include "nodemanager/core/context.h"
#include "nodemanager/store/state-store.h"

/* ---- Pipelines ---- */

struct nm_amrm_master *nm_amrm_master_of(const struct nm_amrm *p, struct yarn_app_id app)
{
    char text[YARN_ID_TEXT_MAX];
    struct nm_amrm_master *m = NULL;

    HASH_FIND_STR(p->masters, yarn_app_id_text(app, text), m);
    return m;
}

bool nm_amrm_master_is(const struct nm_amrm_master *m, struct yarn_attempt_id id)
{
    const struct yarn_attempt_id own = nm_amrm_pipeline_attempt(m->pipeline)->id;

    return yarn_app_id_cmp(own.app, id.app) == 0 && own.attempt == id.attempt;
}

void nm_amrm_master_forget(struct nm_amrm *p, struct nm_amrm_master *m)
{
    HASH_DEL(p->masters, m);
    nm_amrm_pipeline_free(m->pipeline);
    free(m);
}

static void on_ended(struct nm_amrm_pipeline *pipeline, void *userdata)
{
    struct nm_amrm *p = userdata;
    struct nm_amrm_master *m = nm_amrm_master_of(p, nm_amrm_pipeline_attempt(pipeline)->id.app);

    if (m && m->pipeline == pipeline)
        nm_amrm_master_forget(p, m);
}

int nm_amrm_master_begin(struct nm_amrm *p, const struct nm_amrm_beginning *b,
                         struct nm_amrm_master **ret, struct sv_error *err)
{
    const struct nm_amrm_pipeline_config config = { .env = &p->env,
                                                    .interceptor = p->interceptor,
                                                    .shared = p->shared,
                                                    .attempt = b->id,
                                                    .user = b->user,
                                                    .rm_token = b->token,
                                                    .records = b->records,
                                                    .n_records = b->n_records,
                                                    .from = b->from,
                                                    .ended = on_ended,
                                                    .userdata = p };
    struct nm_amrm_master *m = calloc(1, sizeof(*m));
    int r;

    if (!m)
        return sv_error_errno(err, -ENOMEM, "AMRMProxy");
    yarn_app_id_text(b->id.app, m->app);
    r = nm_amrm_pipeline_new(&config, &m->pipeline, err);
    if (r < 0) {
        free(m);
        return r;
    }
    HASH_ADD_STR(p->masters, app, m);
    *ret = m;
    return 0;
}

void nm_amrm_master_stop(struct nm_amrm_master *m)
{
    if (m->stopping)
        return;
    m->stopping = true;
    nm_amrm_pipeline_stop(m->pipeline);
}

void nm_amrm_app_stopped(struct nm_amrm *p, struct yarn_app_id app)
{
    struct nm_amrm_master *m = p ? nm_amrm_master_of(p, app) : NULL;

    if (m)
        nm_amrm_master_stop(m);
}

struct nm_amrm_pipeline *nm_amrm_find(struct nm_amrm *p, struct yarn_attempt_id id)
{
    const struct nm_amrm_master *m = nm_amrm_master_of(p, id.app);

    return m && !m->stopping && nm_amrm_master_is(m, id) ? m->pipeline : NULL;
}

void nm_amrm_drop(struct nm_amrm *p, struct yarn_attempt_id id)
{
    struct nm_amrm_master *m = p ? nm_amrm_master_of(p, id.app) : NULL;
    int r;

    if (!m || !nm_amrm_master_is(m, id))
        return;
    r = nm_store_amrm_remove_all(p->ctx->store, nm_amrm_pipeline_attempt(m->pipeline)->text);
    if (r < 0)
        sv_log(SV_LOG_WARNING, m->app, "%s: its records cannot be removed from the store: %s",
               m->app, strerror(-r));
    nm_amrm_master_forget(p, m);
}

/* ---- Records ---- */

static int read_record(struct nm_amrm_reading *x, const struct nm_stored_amrm *r)
{
    uint8_t *data = sv_arena_alloc(x->arena, r->len + 1); /* a text ends */
    const char *name = sv_arena_strdup(x->arena, r->name);

    if (!data || !name)
        return -ENOMEM;
    if (r->len)
        memcpy(data, r->value, r->len);
    if (sv_streq(name, NM_AMRM_RECORD_USER))
        x->user = (const char *)data;
    else if (sv_streq(name, NM_AMRM_RECORD_TOKEN))
        x->token = (const char *)data;
    else if (x->n == NM_AMRM_RECORDS_MAX)
        return -E2BIG;
    else
        x->records[x->n++] = (struct nm_amrm_record){ name, data, r->len };
    return 0;
}

static int on_record(const struct nm_stored_amrm *r, void *userdata)
{
    return read_record(userdata, r);
}

int nm_amrm_read_records(struct nm_amrm *p, const char *attempt, struct nm_amrm_reading *x)
{
    (void)snprintf(x->attempt, sizeof(x->attempt), "%s", attempt);
    return nm_store_each_amrm(p->ctx->store, x->attempt, on_record, x);
}
