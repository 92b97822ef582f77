/* Answers of the world, and the next steps: application ids, submissions, kills, retries, the
 * collection of old frameworks; see launcher.h. */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "service/engine/exit-table.h"
#include "service/launcher/internal.h"

/* ---- Answers of the world ---- */

void svc_lr_on_id(struct svc_lr *l, const char *framework, uint64_t generation, int status,
                  struct yarn_app_id app)
{
    struct svc_framework *f = svc_lr_find(&l->all, framework);
    struct svc_lr_input in = { .app = app };

    l->n_ids--;
    if (!f || f->generation != generation || !f->busy || l->broken)
        return;
    f->busy = false;
    if (f->st.state != SVC_LR_WAITING)
        return;
    if (status < 0) {
        svc_lr_enqueue(l, f); /* again with the next tick */
        return;
    }
    in.user = f->d->user;
    svc_lr_begin(l);
    svc_lr_post(l, f, SVC_LR_CREATE, &in); /* a stopped one goes on to its end */
    if (svc_lr_commit(l) == 0)
        svc_lr_tick(l);
}

void svc_lr_on_submitted(struct svc_lr *l, struct yarn_app_id app, int32_t code, const char *why)
{
    struct svc_framework *f = svc_lr_find_app(&l->all, app);
    struct svc_lr_input in = { .code = code, .words = why };

    l->n_works--;
    if (!f || l->broken)
        return;
    f->busy = false;
    if (f->st.state != SVC_LR_CREATED)
        return;
    if (code == SVC_FW_EXIT_SUBMIT_IO && ++f->failures < SVC_LR_SUBMISSIONS) {
        svc_lr_enqueue(l, f); /* under the same id: it cannot become two */
        return;
    }
    l->counts.submitted += code == 0;
    l->counts.refused += code != 0;
    if (code)
        sv_log_warning("framework %s: its master was not submitted: %s", f->name, why);
    svc_lr_begin(l);
    svc_lr_post(l, f, code ? SVC_LR_NOT_SUBMITTED : SVC_LR_SUBMITTED, &in);
    if (svc_lr_commit(l) == 0 && code == 0)
        l->world.poll(l->world.userdata);
}

#define KILL_DELAY_MS 1000
#define KILL_DELAY_MAX_MS 60000

static void delay_kill(struct svc_lr *l, struct svc_lr_kill *k)
{
    int64_t ms = (int64_t)KILL_DELAY_MS << SV_MIN(k->failures, 6);

    k->failures++;
    k->after_ms = svc_lr_now(l) + SV_MIN(ms, (int64_t)KILL_DELAY_MAX_MS);
}

void svc_lr_on_killed(struct svc_lr *l, const char *app, bool killed)
{
    struct svc_lr_kill *k = svc_lr_kill_of(l, app);

    l->n_works--;
    l->n_kills--;
    if (!k)
        return;
    k->busy = false;
    if (!killed)
        delay_kill(l, k);
    if (k->again || !killed || l->broken) {
        k->again = false;
        return;
    }
    svc_lr_begin(l);
    svc_lr_store_killed(l->store, app);
    if (svc_lr_commit(l) < 0)
        return;
    l->counts.killed++;
    svc_lr_kill_remove(l, k);
}

/* ---- Turns ---- */

#define REFUSED_MAX 64

/* Users for whom no process can be started in this turn: one of them must not keep the others
 * waiting. */
struct refused {
    const char *users[REFUSED_MAX];
    size_t n;
};

static bool is_refused(const struct refused *r, const char *user)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->users[i], user) == 0)
            return true;
    return r->n == REFUSED_MAX;
}

/* A clock that was set back must not delay it for long. */
static bool is_due(const struct svc_lr *l, const struct svc_lr_kill *k, int64_t now)
{
    return !k->busy && (k->after_ms <= now || k->after_ms - now > KILL_DELAY_MAX_MS) &&
           svc_lr_store_keeps(l->store, k->ticket);
}

static void pump_kills(struct svc_lr *l, struct refused *refused)
{
    int64_t now = svc_lr_now(l);
    struct svc_lr_kill *k;

    for (k = l->kills; k; k = k->hh.next) {
        bool again;
        int r;

        if (l->n_works >= SVC_LR_WORKS_AT_ONCE || l->n_kills >= SVC_LR_KILLS_AT_ONCE)
            return;
        if (!is_due(l, k, now) || is_refused(refused, k->user))
            continue;
        /* The files of one that is there again are its. */
        again = k->framework && svc_lr_find(&l->all, k->framework);
        r = l->world.kill(l->world.userdata, k->app, k->user, again ? NULL : k->framework);
        if (r < 0) {
            if (r != -EALREADY)
                refused->users[refused->n++] = k->user;
            continue;
        }
        k->busy = true;
        l->n_works++;
        l->n_kills++;
    }
}

static void begin_id(struct svc_lr *l, struct svc_framework *f, bool *more)
{
    if (l->n_ids >= SVC_LR_IDS_AT_ONCE ||
        l->world.new_id(l->world.userdata, f->name, f->generation) < 0) {
        *more = false;
        return;
    }
    svc_lr_dequeue(l, f);
    f->busy = true;
    l->n_ids++;
}

static void begin_submission(struct svc_lr *l, struct svc_framework *f, struct refused *refused)
{
    const char *user = f->st.user ? f->st.user : f->d->user;
    int r;

    if (l->n_works >= SVC_LR_WORKS_AT_ONCE || is_refused(refused, user) ||
        !svc_lr_store_keeps(l->store, f->ticket))
        return;
    r = l->world.submit(l->world.userdata, f);
    if (r < 0) {
        if (r != -EALREADY)
            refused->users[refused->n++] = user;
        return;
    }
    svc_lr_dequeue(l, f);
    f->busy = true;
    l->n_works++;
}

static void pump(struct svc_lr *l)
{
    struct refused refused = { 0 };
    struct svc_framework *f, *tmp;
    bool ids = true;

    pump_kills(l, &refused);
    DL_FOREACH_SAFE (l->queue, f, tmp) {
        if (f->st.state != SVC_LR_WAITING)
            begin_submission(l, f, &refused);
        else if (ids)
            begin_id(l, f, &ids);
    }
}

static bool is_old(const struct svc_lr *l, const struct svc_framework *f)
{
    return f->st.state == SVC_LR_COMPLETED && f->client != SVC_LR_DATA_DEPLOYMENT &&
           svc_lr_now(l) - f->st.completed_ms > l->settings->retain_s * 1000;
}

#define COLLECT_TURN 64 /* frameworks of one turn */

/* Retries whose time has come, and completed frameworks that nobody needs any more. */
static void look_at_all(struct svc_lr *l)
{
    struct svc_framework *f, *tmp;
    int n = 0;

    HASH_ITER (hh, l->all.by_name, f, tmp) {
        bool due = !f->pending && f->st.state == SVC_LR_APP_COMPLETED &&
                   f->st.retry_at_ms <= svc_lr_now(l);
        bool old = !f->pending && is_old(l, f);

        if (!due && !old)
            continue;
        if (n++ == 0)
            svc_lr_begin(l);
        if (due)
            svc_lr_settle(l, f);
        else
            svc_lr_forget(l, f);
        l->counts.collected += old;
        if (n == COLLECT_TURN)
            break;
    }
    if (n && svc_lr_commit(l) == 0 && n == COLLECT_TURN)
        l->world.soon(l->world.userdata);
}

/* The store may work again: what is in memory is read from it. That takes long, and is not tried
 * while nothing can be written. */
static void mend(struct svc_lr *l)
{
    struct sv_error err = { 0 };

    svc_lr_store_begin(l->store);
    svc_lr_store_meta(l->store, "tried", "null");
    if (svc_lr_store_commit(l->store) < 0)
        return;
    svc_lr_clear(l);
    l->broken = false;
    if (svc_lr_load(l, &err) < 0) {
        sv_log_debug("%s", err.text); /* the first failure was told */
        l->broken = true;
    }
    l->world.changed(l->world.userdata, NULL);
}

void svc_lr_tick(struct svc_lr *l)
{
    if (!svc_lr_store_may_act(l->store))
        return;
    if (l->broken)
        mend(l);
    if (!l->broken)
        look_at_all(l);
    if (!l->broken)
        svc_lr_families_turn(l);
    if (!l->broken)
        pump(l);
    if (!l->broken && svc_lr_store_sweep(l->store) < 0)
        l->broken = true;
}
