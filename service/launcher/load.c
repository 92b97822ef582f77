/* Start and end of the launcher: what the store has becomes frameworks again; see launcher.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/str.h"
#include "service/framework/status.h"
#include "service/launcher/internal.h"
#include "service/launcher/print.h"

/* ---- Rows ---- */

static int on_framework(void *u, const char *name, const char *request, const char *status,
                        int64_t tasks)
{
    struct svc_lr *l = u;
    struct svc_framework *f;
    int r;

    if (!svc_fw_name_valid(name) || svc_lr_find(&l->all, name))
        return -EUCLEAN;
    f = svc_lr_add(&l->all, name);
    if (!f)
        return -ENOMEM;
    f->tasks = tasks;
    l->last_tasks = SV_MAX(l->last_tasks, tasks);
    r = svc_lr_read_request(&l->all, f, request);
    return r < 0 ? r : svc_lr_read_status(&l->all, f, status);
}

static int on_dropped(void *u, int64_t tasks)
{
    struct svc_lr *l = u;

    l->last_tasks = SV_MAX(l->last_tasks, tasks);
    return 0;
}

/* Checked again as if a master told it. */
static int on_task(void *u, const char *framework, const char *role, int32_t index,
                   const char *text)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_lr *l = u;
    struct svc_framework *f = svc_lr_find(&l->all, framework);
    json_t *o = json_loads(text, 0, NULL);
    struct svc_fw_task t;
    struct svc_lr_task set = { .role = role, .index = index };
    int r = a && f && o ? svc_fw_task_read(o, role, a, &t, NULL) : -EUCLEAN;

    json_decref(o);
    if (r < 0 || t.index != index || t.removed)
        return -EUCLEAN;
    set.text = strdup(text);
    set.running = t.state == SVC_FW_CONTAINER_RUNNING;
    set.completed = t.state == SVC_FW_TASK_COMPLETED;
    r = set.text ? svc_lr_set_task(&l->all, f, &set) : -ENOMEM;
    if (r < 0)
        free(set.text);
    /* Its role has shrunk since; or the bound was reached by texts that had become shorter in
     * memory (answers.c): the master tells it again, or it is not shown. */
    return r == -EINVAL || r == -EFBIG ? 0 : r;
}

static int on_kill(void *u, const char *app, const char *user, const char *framework)
{
    return svc_lr_kill_add(u, app, user, framework) ? 0 : -ENOMEM;
}

static void take(json_t **at, json_t *v)
{
    json_decref(*at);
    *at = v;
}

static int read_secret(struct svc_lr *l, const char *text)
{
    _cleanup_free_ uint8_t *bytes = NULL;
    size_t n = 0;

    if (sv_base64_decode(text, strlen(text), sizeof(l->secret), &bytes, &n) < 0 ||
        n != sizeof(l->secret))
        return -EUCLEAN;
    memcpy(l->secret, bytes, n);
    l->has_secret = true;
    return 0;
}

static int on_meta(void *u, const char *key, const char *value)
{
    struct svc_lr *l = u;
    json_t *v = json_loads(value, JSON_DECODE_ANY, NULL);
    int r = v ? 0 : -EUCLEAN;

    if (r == 0 && strcmp(key, "cluster") == 0)
        take(&l->cluster, json_incref(v));
    else if (r == 0 && strcmp(key, "acl") == 0)
        take(&l->acl, json_incref(v));
    else if (r == 0 && strcmp(key, "launching") == 0)
        take(&l->launching, json_incref(v));
    else if (r == 0 && strcmp(key, "launched") == 0)
        take(&l->launched, json_incref(v));
    else if (r == 0 && strcmp(key, "families") == 0)
        take(&l->unfinished, json_incref(v));
    else if (r == 0 && strcmp(key, "revision") == 0)
        l->revision = json_integer_value(v);
    else if (r == 0 && strcmp(key, "secret") == 0 && json_is_string(v))
        r = read_secret(l, json_string_value(v));
    json_decref(v);
    return r;
}

/* ---- All ---- */

static int make_secret(struct svc_lr *l)
{
    _cleanup_free_ char *text = NULL;
    json_t *v;

    if (getrandom(l->secret, sizeof(l->secret), 0) != (ssize_t)sizeof(l->secret) ||
        sv_base64_encode(l->secret, sizeof(l->secret), &text) < 0 || !(v = json_string(text)))
        return -EIO;
    svc_lr_write_meta(l, "secret", v);
    json_decref(v);
    l->has_secret = true;
    return 0;
}

/* The states that a start leaves: each framework does what is next. */
static int recover(struct svc_lr *l)
{
    struct svc_framework *f, *tmp;
    int r = 0;

    svc_lr_begin(l);
    if (!l->has_secret)
        r = make_secret(l);
    HASH_ITER (hh, l->all.by_name, f, tmp) {
        struct svc_lr_input in = { 0 };

        svc_lr_post(l, f, SVC_LR_RECOVER, &in);
    }
    if (r < 0) {
        svc_lr_store_rollback(l->store);
        return r;
    }
    return svc_lr_commit(l);
}

int svc_lr_load(struct svc_lr *l, struct sv_error *err)
{
    static const struct svc_lr_rows rows = { on_framework, on_dropped, on_task, on_kill, on_meta };
    int r;

    l->cluster = json_pack("{s:n}", "nodes");
    l->acl = json_pack("{s:{}, s:[]}", "namespaceAcls", "normalAdminUsers");
    l->launching = json_null();
    l->launched = json_null();
    if (!l->cluster || !l->acl)
        return sv_error_errno(err, -ENOMEM, "frameworks");
    r = svc_lr_store_load(l->store, &rows, l, err);
    if (r == 0 && (r = recover(l)) < 0)
        r = sv_error_set(err, r, "frameworks: the store cannot be written: %s",
                         svc_lr_store_why(l->store));
    if (r == 0)
        svc_lr_families_resume(l);
    return r;
}

void svc_lr_clear(struct svc_lr *l)
{
    struct svc_framework *f, *tmp;
    struct svc_lr_kill *k, *next;

    svc_lr_families_clear(l);
    HASH_ITER (hh, l->all.by_name, f, tmp)
        svc_lr_remove(&l->all, f);
    l->queue = NULL;
    HASH_ITER (hh, l->kills, k, next)
        svc_lr_kill_remove(l, k);
    take(&l->cluster, NULL);
    take(&l->acl, NULL);
    take(&l->launching, NULL);
    take(&l->launched, NULL);
    l->revision = 0;
}

int svc_lr_new(const struct svc_lr_settings *settings, const struct svc_lr_world *world,
               struct svc_lr_store *store, struct svc_lr **ret, struct sv_error *err)
{
    struct svc_lr *l = calloc(1, sizeof(*l));
    int r;

    if (!l) {
        (void)svc_lr_store_close(store);
        return sv_error_errno(err, -ENOMEM, "frameworks");
    }
    l->settings = settings;
    l->all.user_share = settings->user_share;
    l->world = *world;
    l->store = store;
    r = svc_lr_load(l, err);
    if (r < 0) {
        (void)svc_lr_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

struct svc_lr *svc_lr_free(struct svc_lr *l)
{
    if (l) {
        svc_lr_clear(l);
        l->store = svc_lr_store_close(l->store);
        explicit_bzero(l->secret, sizeof(l->secret));
        free(l);
    }
    return NULL;
}
