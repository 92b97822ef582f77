/* The masters of the store after a restart. Hostile: the records, which a disk may have damaged. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/amrmproxy/masters.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/context.h"
#include "nodemanager/store/state-store.h"

struct recovery {
    struct nm_amrm *p;
    struct nm_amrm_reading *now;
    unsigned n, bad;
};

/* The later attempt of an application is the one that counts. */
static int restore(struct nm_amrm *p, const struct nm_amrm_reading *x, struct sv_error *err)
{
    struct nm_amrm_beginning b = { .records = x->records, .n_records = x->n, .user = x->user };
    const struct nm_app *app;
    struct yarn_token token;
    struct nm_amrm_master *m;
    int r = yarn_attempt_id_parse(x->attempt, &b.id);

    if (r < 0 || !x->user || !x->token)
        return sv_error_set(err, -EBADMSG, "%s: records are missing", x->attempt);
    r = yarn_token_parse(x->arena, x->token, &token);
    if (r < 0)
        return sv_error_set(err, -EBADMSG, "%s: its AMRMToken is damaged", x->attempt);
    m = nm_amrm_master_of(p, b.id.app);
    if (m && nm_amrm_pipeline_attempt(m->pipeline)->id.attempt > b.id.attempt)
        return sv_error_set(err, -EEXIST, "%s: a later attempt is on record", x->attempt);
    if (m)
        nm_amrm_drop(p, nm_amrm_pipeline_attempt(m->pipeline)->id);
    b.from = NM_AMRM_RESTARTED;
    b.token = &token;
    r = nm_amrm_master_begin(p, &b, &m, err);
    if (r < 0)
        return r;
    app = nm_app_find(p->ctx, m->app);
    if (!app || app->finish_recorded)
        nm_amrm_master_stop(m);
    return 0;
}

static void restore_read(struct recovery *x)
{
    struct sv_error err = { 0 };

    if (!x->now->arena)
        return;
    if (restore(x->p, x->now, &err) >= 0) {
        x->n++;
    } else {
        x->bad++;
        x->p->counters.failed_recoveries++;
        sv_log_err("AMRMProxy: %s: not restored", err.text);
        if (nm_store_amrm_remove_all(x->p->ctx->store, x->now->attempt) < 0)
            sv_log_err("AMRMProxy: %s: its records cannot be removed from the store",
                       x->now->attempt);
    }
    x->now->arena = sv_arena_wipe(x->now->arena);
    *x->now = (struct nm_amrm_reading){ .n = 0 };
}

struct all_records { /* attempts of the store, read before anything is written */
    char (*attempts)[YARN_ID_TEXT_MAX];
    size_t n;
};

static int on_record(const struct nm_stored_amrm *r, void *userdata)
{
    struct all_records *all = userdata;
    void *more;

    if (all->n && sv_streq(all->attempts[all->n - 1], r->attempt))
        return 0;
    if (strlen(r->attempt) >= YARN_ID_TEXT_MAX)
        return -EBADMSG;
    more = reallocarray(all->attempts, all->n + 1, sizeof(*all->attempts));
    if (!more)
        return -ENOMEM;
    all->attempts = more;
    memcpy(all->attempts[all->n++], r->attempt, strlen(r->attempt) + 1);
    return 0;
}

int nm_amrm_recover(struct nm_amrm *p, struct sv_error *err)
{
    _cleanup_free_ struct nm_amrm_reading *reading = p ? calloc(1, sizeof(*reading)) : NULL;
    struct recovery x = { .p = p, .now = reading };
    struct all_records all = { .n = 0 };
    int r = reading ? 0 : -ENOMEM;

    if (!p)
        return 0;
    if (r >= 0)
        r = nm_store_each_amrm(p->ctx->store, NULL, on_record, &all);
    for (size_t i = 0; r >= 0 && i < all.n; i++) {
        reading->arena = sv_arena_new(SIZE_MAX);
        r = reading->arena ? nm_amrm_read_records(p, all.attempts[i], reading) : -ENOMEM;
        restore_read(&x);
    }
    free(all.attempts);
    if (r < 0)
        return sv_error_errno(err, r, "AMRMProxy: recovery");
    if (x.n || x.bad)
        sv_log_info("AMRMProxy: recovered %u ApplicationMasters; records of %u are not usable", x.n,
                    x.bad);
    return 0;
}
