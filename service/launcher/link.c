/* See link.h. */
#include "service/launcher/link.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "service/api/uri.h"
#include "service/framework/link.h"
#include "service/framework/reader.h"
#include "service/framework/status.h"
#include "service/launcher/internal.h"
#include "service/launcher/user-exits.h"

#define URL_MAX 1024      /* bytes of a tracking URL */
#define PROGRESS_STEP 0.1 /* smaller changes are not stored */

void svc_lr_told_free(struct svc_lr_told *t)
{
    free(t->framework);
    *t = (struct svc_lr_told){ 0 };
}

bool svc_lr_link_takes(const char *uri)
{
    return sv_has_prefix(uri, SVC_FW_LINK_PATH);
}

/* ---- Refusals ---- */

static int refuse(struct svc_lr_answer *ret, unsigned status, const char *fmt, ...) _printf_(3, 4);
static int refuse(struct svc_lr_answer *ret, unsigned status, const char *fmt, ...)
{
    char text[1024];
    json_t *o;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    o = json_pack("{s:s}", "message", text);
    *ret = (struct svc_lr_answer){ .status = o ? status : 503,
                                   .body = o ? json_dumps(o, JSON_COMPACT) : NULL };
    ret->len = ret->body ? strlen(ret->body) : 0;
    json_decref(o);
    return 1;
}

/* ---- Reading ---- */

struct message { /* texts are the tree's */
    json_t *o;
    int64_t version, attempt, sequence, seen;
    const char *app, *url;
    bool full, wait, ending;
    double progress; /* < 0: none */
    json_t *roles;
};

static bool whole(const json_t *o, const char *key, int64_t min, int64_t max, int64_t *ret)
{
    const json_t *v = json_object_get(o, key);

    *ret = json_integer_value(v);
    return json_is_integer(v) && *ret >= min && *ret <= max;
}

static bool read_message(json_t *o, struct message *m)
{
    const json_t *progress = json_object_get(o, "progress");
    const json_t *url = json_object_get(o, "trackingUrl");

    *m = (struct message){ .o = o,
                           .app = json_string_value(json_object_get(o, "applicationId")),
                           .url = json_string_value(url),
                           .full = json_is_true(json_object_get(o, "full")),
                           .wait = json_is_true(json_object_get(o, "wait")),
                           .ending = json_is_true(json_object_get(o, "ending")),
                           .progress = -1,
                           .roles = json_object_get(o, "taskRoles") };
    if (!whole(o, "version", INT32_MIN, INT32_MAX, &m->version) ||
        !whole(o, "attempt", 1, INT32_MAX, &m->attempt) ||
        !whole(o, "sequence", 0, INT64_MAX, &m->sequence) || !m->app ||
        (m->roles && !json_is_object(m->roles)))
        return false;
    if (!whole(o, "seen", 0, INT64_MAX, &m->seen))
        m->seen = 0;
    if (json_is_number(progress)) {
        m->progress = json_number_value(progress);
        if (!(m->progress >= 0 && m->progress <= 1))
            return false;
    }
    return !m->url || strlen(m->url) <= URL_MAX;
}

/* ---- The sender ---- */

static bool token_fits(const struct svc_lr *l, const struct svc_framework *f, const char *token)
{
    char want[SVC_LR_TOKEN_TEXT];
    bool fits = token && f->st.app.id && strlen(token) == SVC_LR_TOKEN_TEXT - 1 &&
                svc_lr_token(l, f, want) == 0 &&
                CRYPTO_memcmp(want, token, SVC_LR_TOKEN_TEXT - 1) == 0;

    explicit_bzero(want, sizeof(want));
    return fits;
}

static int check_sender(const struct svc_framework *f, const struct message *m,
                        struct svc_lr_answer *ret)
{
    struct yarn_app_id app;

    if (yarn_app_id_parse(m->app, &app) < 0)
        return refuse(ret, 400, "applicationId is malformed");
    if (m->version != f->d->version || yarn_app_id_cmp(app, f->st.app) != 0 ||
        f->st.state >= SVC_LR_RETRIEVING || m->attempt < f->st.attempt)
        return refuse(ret, 410, "the framework has another application");
    if (m->attempt == f->st.attempt && m->sequence < f->st.sequence)
        return refuse(ret, 400, "sequence %" PRId64 " is older than %" PRId64, m->sequence,
                      f->st.sequence);
    return 0;
}

/* ---- Tasks ---- */

/* The container of a task's text, up to its quote; NULL: none. Within a text of JSON quotes are
 * escaped: this is no value. One look at the text, which is long, for all that migrate. */
static const char *container_of(const char *text, size_t *ret_len)
{
    static const char key[] = "\"containerId\":\"";
    const char *at = text ? strstr(text, key) : NULL;

    if (!at)
        return NULL;
    at += strlen(key);
    *ret_len = strcspn(at, "\"");
    return at;
}

/* A container that was to migrate has gone from the task. */
static bool drop_migrated(struct svc_framework *f, const char *role, const struct svc_fw_task *t)
{
    const struct svc_lr_role *r = f->n_migrates ? svc_lr_role_of(f, role) : NULL;
    size_t len = 0;
    const char *old = container_of(r && t->index < r->n ? r->tasks[t->index] : NULL, &len);

    for (size_t i = 0; old && i < f->n_migrates; i++) {
        const char *id = f->migrates[i];

        if (strlen(id) != len || memcmp(id, old, len) != 0)
            continue;
        if (!t->removed && sv_streq(t->container, id) && !t->exited)
            return false;
        svc_lr_drop_migrate(f, i);
        return true;
    }
    return false;
}

struct taking {
    struct svc_lr *l;
    struct svc_framework *f;
    struct sv_arena *a; /* of the tasks of this request */
    bool migrated;
    struct svc_lr_answer *ret;
};

static char *text_of(const struct svc_fw_task *t, const char *role)
{
    json_t *o = t->removed ? NULL : svc_fw_task_json(t, role);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

    json_decref(o);
    return text;
}

static int take_task(struct taking *k, const char *role, const json_t *o)
{
    struct sv_error err = { 0 };
    struct svc_fw_task t;
    struct svc_lr_task set = { .role = role };
    int r = svc_fw_task_read(o, role, k->a, &t, &err);

    if (r < 0)
        return refuse(k->ret, r == -ENOMEM ? 503 : 400, "taskRoles[%s]: %s", role, err.text);
    k->migrated |= drop_migrated(k->f, role, &t);
    set.index = t.index;
    set.text = text_of(&t, role);
    set.running = t.state == SVC_FW_CONTAINER_RUNNING && !t.removed;
    set.completed = t.state == SVC_FW_TASK_COMPLETED && !t.removed;
    if (!set.text && !t.removed)
        return refuse(k->ret, 503, "out of memory");
    r = svc_lr_set_task(&k->l->all, k->f, &set);
    if (r < 0) {
        free(set.text);
        return r == -EINVAL
                   ? refuse(k->ret, 400, "taskRoles[%s]: there is no task %d", role, t.index)
                   : refuse(k->ret, 503, "the launcher keeps no more of tasks");
    }
    svc_lr_store_task(k->l->store, k->f->tasks, role, t.index, set.text);
    return 0;
}

static int take_tasks(struct taking *k, json_t *roles)
{
    const char *role;
    json_t *list;
    size_t n = 0;

    json_object_foreach(roles, role, list)
    {
        size_t tasks = json_array_size(list);

        n += tasks;
        if (!svc_fw_name_valid(role) || !json_is_array(list) || n > SVC_FW_LINK_TASKS)
            return refuse(k->ret, 400, "taskRoles: lists of at most %d tasks together",
                          SVC_FW_LINK_TASKS);
        for (size_t i = 0; i < tasks; i++) {
            int r = take_task(k, role, json_array_get(list, i));

            if (r)
                return r;
        }
    }
    return 0;
}

/* ---- A request ---- */

static void take_rest(struct svc_framework *f, const struct message *m)
{
    f->st.attempt = (int32_t)m->attempt;
    f->st.sequence = m->sequence;
    f->ending |= m->ending;
    if (m->progress >= 0 &&
        (f->st.progress < 0 || fabs(m->progress - f->st.progress) >= PROGRESS_STEP ||
         (m->progress == 1 && f->st.progress < 1)))
        f->st.progress = m->progress;
    if (m->url && *m->url && !f->st.tracking_url)
        f->st.tracking_url = strdup(m->url); /* without memory it comes again, ignoring */
}

static int take_in(struct svc_lr *l, struct svc_framework *f, const struct message *m,
                   struct svc_lr_answer *ret)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(4 * SVC_FW_LINK_MAX);
    struct taking k = { .l = l, .f = f, .a = a, .ret = ret };
    struct svc_lr_input in = { 0 };
    int r;

    if (!a)
        return refuse(ret, 503, "out of memory");
    svc_lr_begin(l);
    if (m->full)
        svc_lr_forget_tasks(l, f);
    r = take_tasks(&k, m->roles); /* what is well of a bad request stays: it was told */
    if (r == 0)
        take_rest(f, m);
    if (k.migrated)
        svc_lr_write_request(l, f);
    if (r == 0 && f->st.state == SVC_LR_CREATED)
        svc_lr_post(l, f, SVC_LR_SUBMITTED, &in);
    if (r == 0 && f->st.state != SVC_LR_APP_RUNNING)
        svc_lr_post(l, f, SVC_LR_SEEN_RUNNING, &in);
    else
        svc_lr_write_status(l, f);
    l->counts.told++;
    if (svc_lr_commit(l) < 0) {
        if (r)
            free(ret->body); /* of another refusal */
        return refuse(ret, 503, "the store of frameworks is down: try again later");
    }
    if (svc_lr_store_sweep(l->store) < 0) /* a master that is always full is not faster */
        l->broken = true;
    return r;
}

static int take(struct svc_lr *l, struct svc_framework *f, const struct message *m,
                struct svc_lr_told *ret, struct svc_lr_answer *ret_answer)
{
    bool repeated, first;
    int r = check_sender(f, m, ret_answer);

    if (r)
        return r;
    repeated = m->attempt == f->st.attempt && m->sequence == f->st.sequence;
    first = m->attempt > 1 && m->sequence == 0;
    if (!repeated)
        r = take_in(l, f, m, ret_answer);
    if (r)
        return r;
    *ret = (struct svc_lr_told){ .framework = strdup(f->name),
                                 .generation = f->generation,
                                 .app = f->st.app,
                                 .sequence = m->sequence,
                                 .seen = m->seen,
                                 .revision = f->revision,
                                 .cluster = l->revision,
                                 .wait = m->wait,
                                 .statuses = first };
    if (!ret->framework)
        return refuse(ret_answer, 503, "out of memory");
    if (m->ending)
        l->world.poll(l->world.userdata);
    return 0;
}

int svc_lr_link_take(struct svc_lr *l, const struct svc_lr_call *c, const char *token,
                     struct svc_lr_told *ret, struct svc_lr_answer *ret_answer)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(1 << 20);
    struct svc_uri uri = { 0 };
    struct svc_framework *f;
    struct message m;
    char *bad = NULL;
    json_t *o = NULL;
    int r;

    if (!a || svc_uri_parse(a, c->uri, &uri) < 0 || uri.n_parts != 3)
        return refuse(ret_answer, 404, "there is no such path");
    if (strcmp(c->method, "POST") != 0)
        return refuse(ret_answer, 405, "masters POST");
    if (!c->is_json)
        return refuse(ret_answer, 415, "Content-Type must be application/json");
    if (l->broken)
        return refuse(ret_answer, 503, "the store of frameworks is down: try again later");
    f = svc_lr_find(&l->all, uri.parts[2]);
    if (!f)
        return refuse(ret_answer, 410, "there is no such framework");
    if (f->st.app.id == 0) /* it has no application: the one that asks is an earlier one */
        return refuse(ret_answer, 410, "the framework has another application");
    if (!token_fits(l, f, token)) /* nothing of the body is read */
        return refuse(ret_answer, 401, "the token is not that of the framework's application");
    if (c->body_len > SVC_FW_LINK_MAX)
        return refuse(ret_answer, 413, "the body is too large");
    r = svc_fw_load(c->body, c->body_len, &o, &bad);
    if (r < 0 || !json_is_object(o) || !read_message(o, &m))
        r = refuse(ret_answer, r == -ENOMEM ? 503 : 400, "the request is malformed: %s",
                   bad ? bad : "see service/framework/link.h");
    else
        r = take(l, f, &m, ret, ret_answer);
    free(bad);
    json_decref(o);
    return r;
}

/* ---- Answers ---- */

static json_t *migrates(const struct svc_framework *f)
{
    json_t *list = json_array();
    int bad = !list;

    for (size_t i = 0; i < f->n_migrates; i++)
        bad |= json_array_append_new(list, json_string(f->migrates[i]));
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

/* The descriptor is text already. */
static int put_news(const struct svc_lr *l, const struct svc_framework *f, struct sv_buf *b)
{
    const struct svc_fw_exits *exits = l->settings->exits;
    json_t *o =
        json_pack("{s:o, s:o, s:O, s:o}", "migrate", migrates(f), "progress",
                  f->progress < 0 ? json_null() : json_real(f->progress), "clusterConfiguration",
                  l->cluster, "exitSpec", exits ? svc_lr_user_exits(exits) : json_null());
    _cleanup_free_ char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    int r = text ? sv_buf_put_str(b, ",\"descriptor\":") : -ENOMEM;

    json_decref(o);
    if (r == 0)
        r = sv_buf_put_str(b, f->text);
    if (r == 0)
        r = sv_buf_put_str(b, ",");
    return r < 0 ? r : sv_buf_put(b, text + 1, strlen(text) - 2); /* without its braces */
}

static void put_answer(struct svc_lr *l, const struct svc_lr_told *t, const struct svc_framework *f,
                       bool pause, struct svc_lr_answer *ret)
{
    struct sv_buf b = SV_BUF_INIT(8 << 20);
    int64_t revision = f->revision + l->revision;
    int r =
        sv_buf_printf(&b, "{\"revision\":%" PRId64 ",\"sequence\":%" PRId64, revision, t->sequence);

    if (r == 0 && revision > t->seen)
        r = put_news(l, f, &b);
    if (r == 0 && pause)
        r = sv_buf_printf(&b, ",\"pauseMs\":%d", SVC_LR_PAUSE_MS);
    if (r == 0)
        r = sv_buf_put_str(&b, t->statuses ? ",\"statuses\":" : "}");
    if (r == 0)
        r = sv_buf_put(&b, "", 1);
    if (r < 0) {
        sv_buf_free(&b);
        (void)refuse(ret, 503, "out of memory"); /* always 1 */
        return;
    }
    *ret = (struct svc_lr_answer){ .status = 200 };
    if (!t->statuses) {
        ret->body = (char *)b.data;
        ret->len = b.len - 1;
        return;
    }
    ret->pieces = svc_lr_pieces_of(l, f, SVC_LR_TOLD, (char *)b.data);
    if (!ret->pieces)
        (void)refuse(ret, 503, "out of memory"); /* always 1 */
}

static const struct svc_framework *told_of(const struct svc_lr *l, const struct svc_lr_told *t)
{
    const struct svc_framework *f = svc_lr_find(&l->all, t->framework);

    return f && yarn_app_id_cmp(f->st.app, t->app) == 0 && f->st.state < SVC_LR_RETRIEVING ? f
                                                                                           : NULL;
}

/* Masters look nodes up in the cluster's configuration by types of GPUs. Others have the change
 * with their next answer. */
static bool uses_cluster(const struct svc_fw_descriptor *d)
{
    bool uses = d->gpu_type != NULL;

    for (size_t i = 0; i < d->n_roles; i++)
        uses |= d->roles[i].gpu_type != NULL;
    return uses;
}

bool svc_lr_link_has_news(const struct svc_lr *l, const struct svc_lr_told *t)
{
    const struct svc_framework *f = told_of(l, t);

    if (l->broken) /* memory may not be on disk: after it is read anew */
        return false;
    return !f || f->revision != t->revision || (l->revision != t->cluster && uses_cluster(f->d)) ||
           t->revision + t->cluster > t->seen; /* it had not seen all then */
}

bool svc_lr_link_answer(struct svc_lr *l, const struct svc_lr_told *t, bool now, bool pause,
                        struct svc_lr_answer *ret)
{
    const struct svc_framework *f = told_of(l, t);

    if (l->broken && t->wait && !now)
        return false;
    if (l->broken) {
        (void)refuse(ret, 503, "the store of frameworks is down: try again later"); /* always 1 */
        return true;
    }
    if (!f) {
        (void)refuse(ret, 410, "the framework has another application"); /* always 1 */
        return true;
    }
    if (t->wait && !now && !pause && !t->statuses && !svc_lr_link_has_news(l, t))
        return false;
    put_answer(l, t, f, pause, ret);
    return true;
}
