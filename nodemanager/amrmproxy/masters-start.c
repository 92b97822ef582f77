/* The start of a master behind the AMRMProxy. Hostile: launch contexts, whose credentials anybody
 * with a container's token writes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/amrmproxy/home.h"
#include "nodemanager/amrmproxy/keys.h"
#include "nodemanager/amrmproxy/master-token.h"
#include "nodemanager/amrmproxy/masters.h"
#include "nodemanager/core/context.h"
#include "nodemanager/store/state-store.h"

#define APPLICATION_MASTER 1 /* ContainerTypeProto */

bool nm_amrm_wants(const struct nm_amrm *p, const struct yarn_container_token *t)
{
    return p && t->container_type == APPLICATION_MASTER;
}

int nm_amrm_ask(struct nm_amrm *p, const struct yarn_container_token *t,
                void (*done)(int served, const char *why, void *userdata), void *userdata)
{
    if (p->home)
        return nm_amrm_home_ask(p->home, t->container.attempt.app, done, userdata);
    done(1, "", userdata);
    return 0;
}

/* The records of an earlier attempt on this node, which ends without more ado: its master is gone.
 * Its unmanaged masters in other clusters may be taken over. */
static int take_over(struct nm_amrm *p, struct nm_amrm_master *old, struct nm_amrm_reading *x)
{
    const struct nm_amrm_attempt *at = nm_amrm_pipeline_attempt(old->pipeline);
    char attempt[YARN_ID_TEXT_MAX];
    int r;

    memcpy(attempt, at->text, sizeof(attempt)); /* outlives it */
    sv_log(SV_LOG_INFO, old->app, "%s: a later attempt takes its place on this node", at->text);
    nm_amrm_master_forget(p, old);
    r = nm_amrm_read_records(p, attempt, x);
    return r < 0 ? r : nm_store_amrm_remove_all(p->ctx->store, attempt);
}

static int begin_new(struct nm_amrm *p, const struct yarn_container_token *t,
                     const struct yarn_token *real, struct sv_error *err)
{
    _cleanup_free_ struct nm_amrm_reading *x = calloc(1, sizeof(*x));
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    struct nm_amrm_beginning b = {
        .id = t->container.attempt, .user = t->submitter, .token = real, .from = NM_AMRM_SUCCEEDS
    };
    struct nm_amrm_master *m = nm_amrm_master_of(p, b.id.app);
    int r = 0;

    if (!x || !a)
        return sv_error_errno(err, -ENOMEM, "AMRMProxy");
    x->arena = a;
    if (m)
        r = take_over(p, m, x);
    if (r < 0)
        return sv_error_errno(err, r, "AMRMProxy: records of an earlier attempt");
    b.records = x->records;
    b.n_records = x->n;
    return nm_amrm_master_begin(p, &b, &m, err);
}

static int start_master(struct nm_amrm *p, const struct yarn_container_token *t,
                        Hadoop__Yarn__ContainerLaunchContextProto *clc, struct sv_arena *a,
                        struct sv_error *err)
{
    const struct yarn_attempt_id id = t->container.attempt;
    struct yarn_token real, local;
    char text[YARN_ID_TEXT_MAX];
    int r = nm_amrm_keys_token(p->keys, id, a, &local);

    yarn_attempt_id_text(id, text);
    if (r < 0)
        return sv_error_errno(err, r, "AMRMProxy: a token for %s", text);
    r = nm_master_token_exchange(clc, id, &local, a, &real, err);
    if (r >= 0)
        r = begin_new(p, t, &real, err);
    if (r >= 0)
        sv_log(SV_LOG_INFO, text, "%s: its ApplicationMaster is behind the AMRMProxy", text);
    return r;
}

int nm_amrm_start(struct nm_amrm *p, const struct yarn_container_token *t,
                  Hadoop__Yarn__ContainerLaunchContextProto *clc, struct sv_arena *a,
                  struct sv_error *err)
{
    const int64_t began_ms = sv_now_ms();
    int r = start_master(p, t, clc, a, err);

    if (r < 0)
        p->counters.failed_starts++;
    else
        sv_rate_add(&p->counters.starts, (double)(sv_now_ms() - began_ms), sv_now_ms());
    return r;
}
