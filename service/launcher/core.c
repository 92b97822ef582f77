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
    svc_lr_store_request(l->store, f->name, text, f->tasks);
}

void svc_lr_forget_tasks(struct svc_lr *l, struct svc_framework *f)
{
    svc_lr_drop_tasks(&l->all, f);
    if (f->tasks)
        svc_lr_store_drop_tasks(l->store, f->tasks);
    f->tasks = ++l->last_tasks;
    svc_lr_write_request(l, f);
}

void svc_lr_write_status(struct svc_lr *l, struct svc_framework *f)
{
    _cleanup_free_ char *text = svc_lr_record_status(f);

    f->ticket = svc_lr_store_ticket(l->store);
    svc_lr_store_status(l->store, f->name, text);
}

void svc_lr_write_meta(struct svc_lr *l, const char *key, json_t *value)
{
    _cleanup_free_ char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    svc_lr_store_meta(l->store, key, text);
}

/* ---- Kills ---- */

struct svc_lr_kill *svc_lr_kill_of(const struct svc_lr *l, const char *app)
{
    struct svc_lr_kill *k;

    HASH_FIND_STR(l->kills, app, k);
    return k;
}

static struct svc_lr_kill *kill_new(const char *app, const char *user)
{
    struct svc_lr_kill *k = calloc(1, sizeof(*k));

    if (!k)
        return NULL;
    k->app = strdup(app);
    k->user = strdup(user);
    if (k->app && k->user)
        return k;
    free(k->app);
    free(k->user);
    free(k);
    return NULL;
}

struct svc_lr_kill *svc_lr_kill_add(struct svc_lr *l, const char *app, const char *user,
                                    const char *framework)
{
    char *files = *framework ? strdup(framework) : NULL;
    struct svc_lr_kill *k = svc_lr_kill_of(l, app), *old = k;

    if (!k)
        k = kill_new(app, user);
    if (!k || (*framework && !files)) {
        free(files);
        if (k && !old) {
            free(k->app);
            free(k->user);
            free(k);
        }
        return NULL;
    }
    if (!old)
        HASH_ADD_KEYPTR(hh, l->kills, k->app, strlen(k->app), k);
    if (files) {
        free(k->framework);
        k->framework = files;
        k->again = k->busy;
    }
    return k;
}

void svc_lr_kill_remove(struct svc_lr *l, struct svc_lr_kill *k)
{
    HASH_DEL(l->kills, k);
    free(k->app);
    free(k->user);
    free(k->framework);
    free(k);
}

/* The framework had the application `app`. Without memory it comes after the next start, from the
 * store. */
static void want_kill(struct svc_lr *l, const struct svc_framework *f, struct yarn_app_id app,
                      const char *user, bool files)
{
    char text[YARN_ID_TEXT_MAX];
    struct svc_lr_kill *k =
        svc_lr_kill_add(l, yarn_app_id_text(app, text), user, files ? f->name : "");
    const struct svc_lr_store_kill row = { text, user,
                                           k && k->framework ? k->framework
                                           : files           ? f->name
                                                             : "",
                                           f->name };

    if (k)
        k->ticket = svc_lr_store_ticket(l->store);
    svc_lr_store_kill(l->store, &row);
}

/* ---- Events ---- */

/* The containers of an earlier application, which no other one has: none of them is told of again,
 * and the list is bounded. */
static void drop_migrates(struct svc_framework *f)
{
    while (f->n_migrates)
        svc_lr_drop_migrate(f, f->n_migrates - 1);
}

void svc_lr_enqueue(struct svc_lr *l, struct svc_framework *f)
{
    if (f->queued || f->busy || f->doomed)
        return;
    f->queued = true;
    DL_APPEND(l->queue, f);
}

void svc_lr_dequeue(struct svc_lr *l, struct svc_framework *f)
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
        want_kill(l, f, before, user, false);
    if (in->drop_tasks) {
        drop_migrates(f);
        svc_lr_forget_tasks(l, f);
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
        svc_lr_enqueue(l, f);
    else
        svc_lr_dequeue(l, f);
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
        want_kill(l, f, before, f->st.user, false);
    svc_lr_status_reset(&f->st, f->first_ms);
    svc_lr_index_app(&l->all, f, before);
    drop_migrates(f);
    svc_lr_forget_tasks(l, f);
    f->busy = false;
}

void svc_lr_forget(struct svc_lr *l, struct svc_framework *f)
{
    if (f->st.app.id && f->st.user)
        want_kill(l, f, f->st.app, f->st.user, true);
    svc_lr_store_remove(l->store, f->name);
    svc_lr_store_drop_tasks(l->store, f->tasks);
    svc_lr_dequeue(l, f);
    svc_lr_remove(&l->all, f);
}
