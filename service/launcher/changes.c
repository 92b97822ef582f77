/* See changes.h. */
#include "service/launcher/changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "service/framework/reader.h"
#include "service/launcher/internal.h"

#define DESCRIPTOR_TASKS_MAX 100000 /* a framework's master keeps all of its tasks in memory */

static const char down[] = "the store of frameworks is down: try again later";
static const char too_large[] = "the descriptor with its defaults is too large";
static const char pending[] = "its family is being stopped or deleted: try again later";
static const char unknown[] = "there is no such framework";

/* The end of a change; the status. */
static unsigned end(struct svc_lr *l, const char **ret_why)
{
    if (svc_lr_commit(l) < 0) {
        *ret_why = down;
        return 503;
    }
    svc_lr_tick(l);
    return 202;
}

static unsigned done(struct svc_lr *l, const char *name, const char **ret_why)
{
    l->world.changed(l->world.userdata, name); /* it looks after the commit (link.c) */
    return end(l, ret_why);
}

/* ---- Frameworks ---- */

/* A framework of `user`, of which there was `old` before, has now so many tasks. */
static unsigned check_tasks(const struct svc_lr *l, const struct svc_framework *old,
                            const char *user, int64_t tasks, const char **ret_why)
{
    int64_t before = old ? svc_fw_total_tasks(old->d) : 0;
    int64_t own = old && strcmp(old->d->user, user) == 0 ? before : 0;
    int64_t has = svc_lr_user_of(&l->all, user).tasks;

    *ret_why = "the tasks of all frameworks are more than selvedge.framework.max-total-tasks";
    if (l->all.n_tasks - before + tasks > l->settings->max_tasks && tasks > before)
        return 429;
    *ret_why = "the tasks of all frameworks of this user are more than its part "
               "(selvedge.framework.user-share) of selvedge.framework.max-total-tasks";
    return has - own + tasks > svc_lr_share(&l->all, l->settings->max_tasks) && tasks > own ? 429
                                                                                            : 0;
}

static unsigned check_put(const struct svc_lr *l, const struct svc_lr_put *p,
                          const struct svc_framework *old, const char **ret_why)
{
    const struct svc_fw_descriptor *d = p->d;
    bool more = !old || strcmp(old->d->user, d->user) != 0; /* of the user's */
    int64_t tasks = svc_fw_total_tasks(d);
    unsigned status;
    bool orphan = d->parent && strcmp(d->parent, p->name) != 0 && !svc_lr_find(&l->all, d->parent);

    *ret_why = pending;
    if (old ? old->pending : svc_lr_find_any(&l->all, p->name) != NULL)
        return 503;
    *ret_why = "parentFramework: deleteOnParentDeleted of a parent that is not there";
    if (orphan && d->deleted_with_parent)
        return 400;
    *ret_why = "taskRoles: a framework has at most 100000 tasks";
    if (tasks > DESCRIPTOR_TASKS_MAX)
        return 400;
    status = check_tasks(l, old, d->user, tasks, ret_why);
    if (status)
        return status;
    *ret_why = "there are too many frameworks";
    if (!old && l->all.n >= SVC_LR_FRAMEWORKS_MAX)
        return 429;
    *ret_why = "there are too many frameworks of this user (selvedge.framework.user-share)";
    return more && (int64_t)svc_lr_user_of(&l->all, d->user).frameworks >=
                       svc_lr_share(&l->all, SVC_LR_FRAMEWORKS_MAX)
               ? 429
               : 0;
}

struct client { /* malloc'd */
    char *host, *user;
};

static void client_free(struct client *c)
{
    free(c->host);
    free(c->user);
}

static int client_of(const struct svc_lr_put *p, struct client *ret)
{
    struct client c = { strdup(p->host ? p->host : "UNKNOWN"),
                        strdup(p->user ? p->user : "UNKNOWN") };

    if (c.host && c.user) {
        *ret = c;
        return 0;
    }
    client_free(&c);
    return -ENOMEM;
}

/* Takes the texts. */
static void set_client(struct svc_framework *f, enum svc_lr_client type, const struct client *c)
{
    free(f->client_host);
    free(f->client_user);
    f->client_host = c->host;
    f->client_user = c->user;
    f->client = type;
}

/* A descriptor of `user` whose text has so many bytes. With its defaults it is longer than as it
 * came, and the store and masters read it so, under the same bounds. The status; 0: it is well. */
static unsigned check_text(const struct svc_lr *l, const struct svc_framework *old,
                           const char *user, size_t now, const char **ret_why)
{
    size_t before = old ? strlen(old->text) : 0;
    size_t own = old && strcmp(old->d->user, user) == 0 ? before : 0;

    *ret_why = too_large;
    if (now > SVC_FW_JSON_MAX)
        return 400;
    *ret_why = "the descriptor with its defaults is too large for the store of frameworks";
    if (now > svc_lr_store_value_max(l->store))
        return 400;
    *ret_why = "the descriptors of all frameworks are too large";
    if (now > before && l->all.request_bytes - before + now > SVC_LR_REQUESTS_MAX)
        return 429;
    *ret_why = "the descriptors of all frameworks of this user are too large "
               "(selvedge.framework.user-share)";
    return now > own && svc_lr_user_of(&l->all, user).request_bytes - own + now >
                            (size_t)svc_lr_share(&l->all, (int64_t)SVC_LR_REQUESTS_MAX)
               ? 429
               : 0;
}

/* It comes to a parent that is stopped. */
static int stop_put(struct svc_lr_put *p)
{
    char *text;

    if (p->d->stop)
        return 0;
    p->d->stop = true;
    text = svc_lr_with_value(p->text, "\"executionType\":", "\"START\"", "\"STOP\"");
    if (!text)
        return -ENOMEM;
    free(p->text);
    p->text = text;
    return 0;
}

/* The framework with its new descriptor; NULL: no memory. */
static struct svc_framework *place(struct svc_lr *l, struct svc_lr_put *p,
                                   struct svc_framework *old)
{
    struct svc_framework *f = old ? old : svc_lr_add(&l->all, p->name);

    if (!f || svc_lr_set_descriptor(&l->all, f, p->arena, p->d, p->text) < 0) {
        if (f && !old)
            svc_lr_remove(&l->all, f);
        return NULL;
    }
    p->arena = NULL;
    p->text = NULL;
    return f;
}

unsigned svc_lr_put(struct svc_lr *l, struct svc_lr_put *p, const char **ret_why)
{
    struct svc_framework *old = svc_lr_find(&l->all, p->name), *f;
    struct client client;
    const struct svc_framework *parent = p->d->parent ? svc_lr_find(&l->all, p->d->parent) : NULL;
    /* Another user's tasks are not started by the master that runs as this one. */
    bool anew = !old || old->d->version != p->d->version || strcmp(old->d->user, p->d->user) != 0;
    unsigned status = check_put(l, p, old, ret_why);

    if (status)
        return status;
    *ret_why = "out of memory";
    if (p->d->stopped_with_parent && parent && parent != old &&
        (parent->d->stop || parent->pending) && stop_put(p) < 0)
        return 503;
    *ret_why = too_large;
    status = svc_fw_fits(p->text, strlen(p->text))
                 ? check_text(l, old, p->d->user, strlen(p->text), ret_why)
                 : 400;
    if (status)
        return status;
    *ret_why = "out of memory";
    if (client_of(p, &client) < 0)
        return 503;
    f = place(l, p, old);
    if (!f) {
        client_free(&client);
        *ret_why = "out of memory";
        return 503;
    }
    set_client(f, p->client, &client);
    f->last_ms = svc_lr_now(l);
    if (!old)
        f->first_ms = f->last_ms;
    svc_lr_begin(l);
    if (anew)
        svc_lr_restart(l, f);
    svc_lr_write_request(l, f);
    if (!f->d->stop)
        svc_lr_settle(l, f);
    else if (svc_lr_stop_family(l, f) < 0)
        l->broken = true; /* memory is read anew */
    return done(l, f->name, ret_why);
}

unsigned svc_lr_delete(struct svc_lr *l, const char *name, const char **ret_why)
{
    struct svc_framework *f = svc_lr_find(&l->all, name);
    int r;

    if (!f)
        return 202;
    *ret_why = pending;
    if (f->pending)
        return 503;
    svc_lr_begin(l);
    r = svc_lr_delete_family(l, f);
    if (r < 0)
        svc_lr_store_rollback(l->store);
    if (r == -ENOMEM)
        *ret_why = "out of memory";
    return r < 0 ? 503 : end(l, ret_why);
}

static size_t digits(int32_t n)
{
    size_t k = 1;

    for (; n > 9; n /= 10)
        k++;
    return k;
}

static bool fits_with(const struct svc_fw_descriptor *d, struct svc_fw_role *r, int32_t n)
{
    int32_t before = r->tasks;
    bool fits;

    r->tasks = n;
    fits = svc_fw_gang_fits(d);
    r->tasks = before;
    return fits;
}

unsigned svc_lr_set_number(struct svc_lr *l, const char *name, const char *role, int32_t n,
                           const char **ret_why)
{
    struct svc_framework *f = svc_lr_find(&l->all, name);
    struct svc_fw_role *r = f ? svc_fw_role_named(f->d, role) : NULL;
    int64_t more = r ? (int64_t)n - r->tasks : 0;
    unsigned status;

    *ret_why = f ? "there is no such task role" : unknown;
    if (!r)
        return 404;
    *ret_why = "taskNumber: a framework has at most 100000 tasks";
    if (svc_fw_total_tasks(f->d) + more > DESCRIPTOR_TASKS_MAX)
        return 400;
    *ret_why = "taskNumber: gangAllocation: the addresses of all tasks are too long";
    if (more > 0 && !fits_with(f->d, r, n))
        return 400;
    status = check_tasks(l, f, f->d->user, svc_fw_total_tasks(f->d) + more, ret_why);
    if (status == 0)
        status =
            check_text(l, f, f->d->user, strlen(f->text) + digits(n) - digits(r->tasks), ret_why);
    if (status)
        return status;
    *ret_why = "out of memory";
    if (svc_lr_set_number_of(&l->all, f, r, n) < 0)
        return 503;
    f->last_ms = svc_lr_now(l);
    svc_lr_begin(l);
    svc_lr_write_request(l, f);
    return done(l, name, ret_why);
}

unsigned svc_lr_set_execution(struct svc_lr *l, const char *name, bool want, const char **ret_why)
{
    struct svc_framework *f = svc_lr_find(&l->all, name);

    *ret_why = f ? pending : unknown;
    if (!f || f->pending)
        return f ? 503 : 404;
    svc_lr_begin(l);
    if (want) {
        if (svc_lr_stop_family(l, f) < 0)
            l->broken = true; /* memory is read anew */
    } else {
        if (svc_lr_set_stop(&l->all, f, false) < 0)
            l->broken = true; /* memory is read anew */
        f->last_ms = svc_lr_now(l);
        svc_lr_write_request(l, f);
        svc_lr_settle(l, f);
    }
    return done(l, name, ret_why);
}

unsigned svc_lr_set_progress(struct svc_lr *l, const char *name, double progress,
                             const char **ret_why)
{
    struct svc_framework *f = svc_lr_find(&l->all, name);

    *ret_why = unknown;
    if (!f)
        return 404;
    f->progress = progress;
    svc_lr_begin(l);
    svc_lr_write_request(l, f);
    return done(l, name, ret_why);
}

/* ---- Migrations ---- */

static bool find_migrate(const struct svc_framework *f, const char *container, size_t *ret)
{
    for (size_t i = 0; i < f->n_migrates; i++)
        if (strcmp(f->migrates[i], container) == 0) {
            *ret = i;
            return true;
        }
    return false;
}

unsigned svc_lr_migrate(struct svc_lr *l, const char *name, const char *container,
                        const char **ret_why)
{
    struct svc_framework *f = svc_lr_find(&l->all, name);
    char **more, *copy;
    size_t at;

    *ret_why = unknown;
    if (!f)
        return 404;
    if (find_migrate(f, container, &at))
        return 202;
    *ret_why = "too many tasks are to migrate at once";
    if (f->n_migrates >= SVC_LR_MIGRATES_MAX)
        return 429;
    more = realloc(f->migrates, (f->n_migrates + 1) * sizeof(*more));
    copy = more ? strdup(container) : NULL;
    if (more)
        f->migrates = more;
    *ret_why = "out of memory";
    if (!copy)
        return 503;
    f->migrates[f->n_migrates++] = copy;
    svc_lr_begin(l);
    svc_lr_write_request(l, f);
    return done(l, name, ret_why);
}

unsigned svc_lr_unmigrate(struct svc_lr *l, const char *name, const char *container,
                          const char **ret_why)
{
    struct svc_framework *f = svc_lr_find(&l->all, name);
    size_t at;

    if (!f || !find_migrate(f, container, &at))
        return 202;
    svc_lr_drop_migrate(f, at);
    svc_lr_begin(l);
    svc_lr_write_request(l, f);
    return done(l, name, ret_why);
}

/* ---- The launcher's own request ---- */

unsigned svc_lr_set_meta(struct svc_lr *l, const char *key, json_t *value, const char **ret_why)
{
    json_t **at = strcmp(key, "cluster") == 0     ? &l->cluster
                  : strcmp(key, "acl") == 0       ? &l->acl
                  : strcmp(key, "launching") == 0 ? &l->launching
                                                  : &l->launched;
    json_t *revision;

    *ret_why = "it is too large for the store of frameworks";
    if (json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) >
        svc_lr_store_value_max(l->store)) {
        json_decref(value);
        return 400;
    }
    revision = at == &l->cluster ? json_integer(++l->revision) : NULL;
    svc_lr_begin(l);
    svc_lr_write_meta(l, key, value);
    if (revision)
        svc_lr_write_meta(l, "revision", revision);
    json_decref(revision);
    json_decref(*at);
    *at = value;
    return at == &l->cluster ? done(l, NULL, ret_why) : end(l, ret_why); /* masters have no other */
}
