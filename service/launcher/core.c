/* Events of frameworks, what follows from them, and their way to the disk; see launcher.h. */
#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/str.h"
#include "service/engine/exit-table.h"
#include "service/launcher/internal.h"
#include "service/launcher/print.h"

int64_t svc_lr_now(const struct svc_lr *l)
{
    return l->world.wall_ms(l->world.userdata);
}

int svc_lr_token(const struct svc_lr *l, const struct svc_framework *f, char ret[SVC_LR_TOKEN_TEXT])
{
    static const char hex[] = "0123456789abcdef";
    char app[YARN_ID_TEXT_MAX], text[YARN_ID_TEXT_MAX + SVC_FW_NAME_MAX + 2];
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    int len = snprintf(text, sizeof(text), "%s/%s", yarn_app_id_text(f->st.app, app), f->name);

    if (!HMAC(EVP_sha256(), l->secret, sizeof(l->secret), (const uint8_t *)text, (size_t)len, mac,
              &n) ||
        n != 32)
        return -EIO;
    for (unsigned i = 0; i < n; i++) {
        ret[2 * i] = hex[mac[i] >> 4];
        ret[2 * i + 1] = hex[mac[i] & 15];
    }
    ret[2 * n] = '\0';
    return 0;
}

/* ---- Writing ---- */

void svc_lr_begin(struct svc_lr *l)
{
    svc_lr_store_begin(l->store);
}

int svc_lr_commit(struct svc_lr *l)
{
    int r = svc_lr_store_commit(l->store);

    if (r < 0 && !l->broken)
        sv_log_err("frameworks: the store is down: %s", svc_lr_store_why(l->store));
    l->broken |= r < 0;
    return r;
}

void svc_lr_write_request(struct svc_lr *l, struct svc_framework *f)
{
    _cleanup_free_ char *text = NULL;

    f->revision++;
    text = svc_lr_record_request(f);
    svc_lr_store_request(l->store, f->name, text);
}

void svc_lr_write_status(struct svc_lr *l, struct svc_framework *f)
{
    _cleanup_free_ char *text = svc_lr_record_status(f);

    svc_lr_store_status(l->store, f->name, text);
}

void svc_lr_write_meta(struct svc_lr *l, const char *key, json_t *value)
{
    _cleanup_free_ char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    svc_lr_store_meta(l->store, key, text);
}

/* ---- Kills ---- */

static void want_kill(struct svc_lr *l, struct yarn_app_id app, const char *user)
{
    struct svc_lr_kill *k = calloc(1, sizeof(*k));
    char text[YARN_ID_TEXT_MAX];

    yarn_app_id_text(app, text);
    if (k) {
        k->app = strdup(text);
        k->user = strdup(user);
    }
    if (!k || !k->app || !k->user) { /* after the next start, from the store */
        free(k ? k->app : NULL);
        free(k ? k->user : NULL);
        free(k);
    } else {
        DL_APPEND(l->kills, k);
    }
    svc_lr_store_kill(l->store, text, user);
}

/* ---- Events ---- */

static void enqueue(struct svc_lr *l, struct svc_framework *f)
{
    if (f->queued || f->busy)
        return;
    f->queued = true;
    DL_APPEND(l->queue, f);
}

static void dequeue(struct svc_lr *l, struct svc_framework *f)
{
    if (f->queued)
        DL_DELETE(l->queue, f);
    f->queued = false;
}

static void run(struct svc_lr *l, struct svc_framework *f, enum svc_lr_event e,
                struct svc_lr_input *in)
{
    struct yarn_app_id before = f->st.app;
    _cleanup_free_ char *user = f->st.user ? strdup(f->st.user) : NULL;
    int from = f->st.state, r;

    in->now_ms = svc_lr_now(l);
    in->policy = &f->d->retry;
    in->delay_min_s = l->settings->conflict_min_s;
    in->delay_max_s = l->settings->conflict_max_s;
    in->random = l->world.random(l->world.userdata);
    in->kill = in->drop_tasks = false;
    r = svc_lr_run(&f->st, e, in);
    if (r < 0)
        sv_log_debug("framework %s: event %d in %s", f->name, e, svc_lr_state_name(from));
    if (yarn_app_id_cmp(before, f->st.app) != 0)
        svc_lr_index_app(&l->all, f, before);
    if (in->kill && before.id && user)
        want_kill(l, before, user);
    if (in->drop_tasks) {
        svc_lr_drop_tasks(&l->all, f);
        svc_lr_store_drop_tasks(l->store, f->name);
        f->revision++;
    }
    f->ending &= e != SVC_LR_CREATE;
    f->asked = e == SVC_LR_CREATE ? 0 : f->asked;
    f->failures = e == SVC_LR_CREATE ? 0 : f->failures;
    l->counts.retried += e == SVC_LR_RETRY;
    l->counts.completed += from != SVC_LR_COMPLETED && f->st.state == SVC_LR_COMPLETED;
}

/* No diagnostics follow an application that never was, or is unknown. */
static bool has_no_words(const struct svc_lr_status *s)
{
    int32_t code = s->exit.code;

    return s->code_kept && (code == SVC_FW_EXIT_APP_LOST || (code <= SVC_FW_EXIT_SUBMIT_REJECTED &&
                                                             code >= SVC_FW_EXIT_SUBMIT_UNKNOWN));
}

void svc_lr_settle(struct svc_lr *l, struct svc_framework *f)
{
    struct svc_lr_input in = { 0 };

    if (f->d->stop && f->st.state != SVC_LR_WAITING && f->st.state != SVC_LR_COMPLETED)
        run(l, f, SVC_LR_STOP, &in);
    if (f->st.state == SVC_LR_RETRIEVING && has_no_words(&f->st))
        run(l, f, SVC_LR_DIAGNOSTICS, &in);
    if (f->st.state == SVC_LR_APP_COMPLETED && f->st.retry_at_ms < 0)
        run(l, f, SVC_LR_GIVE_UP, &in);
    else if (f->st.state == SVC_LR_APP_COMPLETED && f->st.retry_at_ms <= svc_lr_now(l))
        run(l, f, SVC_LR_RETRY, &in);
    if (f->st.state == SVC_LR_WAITING || f->st.state == SVC_LR_CREATED)
        enqueue(l, f);
    else
        dequeue(l, f);
    svc_lr_write_status(l, f);
}

void svc_lr_post(struct svc_lr *l, struct svc_framework *f, enum svc_lr_event e,
                 struct svc_lr_input *in)
{
    run(l, f, e, in);
    svc_lr_settle(l, f);
}

void svc_lr_restart(struct svc_lr *l, struct svc_framework *f)
{
    struct yarn_app_id before = f->st.app;

    if (svc_lr_live(f->st.state) && f->st.user)
        want_kill(l, before, f->st.user);
    svc_lr_status_reset(&f->st, f->first_ms);
    svc_lr_index_app(&l->all, f, before);
    svc_lr_drop_tasks(&l->all, f);
    svc_lr_store_drop_tasks(l->store, f->name);
    f->busy = false;
}

void svc_lr_forget(struct svc_lr *l, struct svc_framework *f)
{
    if (svc_lr_live(f->st.state) && f->st.user)
        want_kill(l, f->st.app, f->st.user);
    svc_lr_store_remove(l->store, f->name);
    dequeue(l, f);
    svc_lr_remove(&l->all, f);
}

/* ---- What the world has done ---- */

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
        enqueue(l, f); /* again with the next tick */
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
        enqueue(l, f); /* under the same id: it cannot become two */
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

void svc_lr_on_killed(struct svc_lr *l, const char *app, bool killed)
{
    struct svc_lr_kill *k;

    l->n_works--;
    DL_FOREACH (l->kills, k)
        if (strcmp(k->app, app) == 0)
            break;
    if (!k)
        return;
    k->busy = false;
    if (!killed || l->broken) { /* again, behind the others */
        DL_DELETE(l->kills, k);
        DL_APPEND(l->kills, k);
        return;
    }
    svc_lr_begin(l);
    svc_lr_store_killed(l->store, app);
    if (svc_lr_commit(l) < 0)
        return;
    l->counts.killed++;
    DL_DELETE(l->kills, k);
    free(k->app);
    free(k->user);
    free(k);
}

/* ---- Turns ---- */

static void pump_kills(struct svc_lr *l)
{
    struct svc_lr_kill *k;

    DL_FOREACH (l->kills, k) {
        if (l->n_works >= SVC_LR_WORKS_AT_ONCE)
            return;
        if (k->busy)
            continue;
        if (l->world.kill(l->world.userdata, k->app, k->user) < 0)
            return;
        k->busy = true;
        l->n_works++;
    }
}

/* False: what it needs is used up. */
static bool pump_one(struct svc_lr *l, struct svc_framework *f)
{
    bool id = f->st.state == SVC_LR_WAITING;
    int r;

    if (id ? l->n_ids >= SVC_LR_IDS_AT_ONCE : l->n_works >= SVC_LR_WORKS_AT_ONCE)
        return false;
    r = id ? l->world.new_id(l->world.userdata, f->name, f->generation)
           : l->world.submit(l->world.userdata, f);
    if (r < 0)
        return false;
    dequeue(l, f);
    f->busy = true;
    l->n_ids += id;
    l->n_works += !id;
    return true;
}

static void pump(struct svc_lr *l)
{
    struct svc_framework *f, *tmp;
    bool ids = true, works = true;

    pump_kills(l);
    DL_FOREACH_SAFE (l->queue, f, tmp) {
        bool *more = f->st.state == SVC_LR_WAITING ? &ids : &works;

        if (*more)
            *more = pump_one(l, f);
        if (!ids && !works)
            return;
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
        bool due = f->st.state == SVC_LR_APP_COMPLETED && f->st.retry_at_ms <= svc_lr_now(l);
        bool old = is_old(l, f);

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
    if (n && svc_lr_commit(l) < 0)
        return;
}

/* The store may work again: what is in memory is read from it. */
static void mend(struct svc_lr *l)
{
    struct sv_error err = { 0 };

    svc_lr_clear(l);
    l->broken = false;
    if (svc_lr_load(l, &err) < 0) {
        sv_log_err("%s", err.text);
        l->broken = true;
    }
    l->world.changed(l->world.userdata, NULL);
}

void svc_lr_tick(struct svc_lr *l)
{
    if (l->broken)
        mend(l);
    if (!l->broken)
        look_at_all(l);
    if (!l->broken)
        pump(l);
}
