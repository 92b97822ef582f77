/* See model.h. */
#include "service/launcher/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/str.h"

/* ---- Names ---- */

static const char *const states[SVC_LR_N_STATES] = {
    "",
    "FRAMEWORK_WAITING",
    "APPLICATION_CREATED",
    "APPLICATION_LAUNCHED",
    "APPLICATION_WAITING",
    "APPLICATION_RUNNING",
    "APPLICATION_RETRIEVING_DIAGNOSTICS",
    "APPLICATION_COMPLETED",
    "FRAMEWORK_COMPLETED",
};
static const char *const clients[SVC_LR_N_CLIENTS] = {
    "UNKNOWN", "LIB", "DATA_DEPLOYMENT", "APPLICATION_MASTER", "CLI", "WEB_UI"
};

const char *svc_lr_state_name(int state)
{
    return states[state];
}

const char *svc_lr_client_name(enum svc_lr_client c)
{
    return clients[c];
}

int svc_lr_client_named(const char *name, enum svc_lr_client *ret)
{
    for (int i = 0; i < SVC_LR_N_CLIENTS; i++)
        if (strcmp(clients[i], name) == 0) {
            *ret = (enum svc_lr_client)i;
            return 0;
        }
    return -ENOENT;
}

bool svc_lr_live(int state)
{
    return state >= SVC_LR_CREATED && state <= SVC_LR_APP_RUNNING;
}

/* ---- Statuses ---- */

void svc_lr_exit_free(struct svc_lr_exit *x)
{
    free(x->description);
    free(x->diagnostics);
    free(x->trigger);
    free(x->trigger_role);
    *x = (struct svc_lr_exit){ .trigger_index = -1 };
}

void svc_lr_status_free(struct svc_lr_status *s)
{
    free(s->user);
    free(s->tracking_url);
    svc_lr_exit_free(&s->exit);
    *s = (struct svc_lr_status){ .exit.trigger_index = -1 };
}

void svc_lr_status_reset(struct svc_lr_status *s, int64_t created_ms)
{
    svc_lr_status_free(s);
    s->state = SVC_LR_WAITING;
    s->created_ms = created_ms;
    s->progress = -1;
    s->sequence = -1;
}

/* ---- Frameworks ---- */

struct svc_framework *svc_lr_find_any(const struct svc_lr_all *all, const char *name)
{
    struct svc_framework *f;

    HASH_FIND_STR(all->by_name, name, f);
    return f;
}

struct svc_framework *svc_lr_find(const struct svc_lr_all *all, const char *name)
{
    struct svc_framework *f = svc_lr_find_any(all, name);

    return f && !f->doomed ? f : NULL;
}

struct svc_framework *svc_lr_find_app(const struct svc_lr_all *all, struct yarn_app_id app)
{
    struct yarn_app_id key;
    struct svc_framework *f;

    memset(&key, 0, sizeof(key)); /* its padding is hashed */
    key.cluster_ts = app.cluster_ts;
    key.id = app.id;
    HASH_FIND(by_app, all->by_app, &key, sizeof(key), f);
    return f;
}

void svc_lr_index_app(struct svc_lr_all *all, struct svc_framework *f, struct yarn_app_id before)
{
    struct yarn_app_id now = f->st.app;

    if (before.id)
        HASH_DELETE(by_app, all->by_app, f);
    memset(&f->st.app, 0, sizeof(f->st.app));
    f->st.app.cluster_ts = now.cluster_ts;
    f->st.app.id = now.id;
    if (now.id)
        HASH_ADD(by_app, all->by_app, st.app, sizeof(f->st.app), f);
}

struct svc_framework *svc_lr_add(struct svc_lr_all *all, const char *name)
{
    struct svc_framework *f = calloc(1, sizeof(*f));

    if (f)
        f->name = strdup(name);
    if (!f || !f->name) {
        free(f);
        return NULL;
    }
    f->progress = -1;
    f->generation = ++all->generations;
    svc_lr_status_reset(&f->st, 0);
    HASH_ADD_KEYPTR(hh, all->by_name, f->name, strlen(f->name), f);
    all->n++;
    return f;
}

void svc_lr_drop_tasks(struct svc_lr_all *all, struct svc_framework *f)
{
    for (size_t i = 0; i < f->n_roles; i++) {
        struct svc_lr_role *r = &f->roles[i];

        for (int32_t k = 0; k < r->n; k++)
            free(r->tasks[k]);
        free(r->tasks);
        free(r->running);
        free(r->completed);
        free(r->name);
    }
    free(f->roles);
    f->roles = NULL;
    f->n_roles = 0;
    svc_lr_count_texts(all, f, -(int64_t)f->text_bytes);
    f->running = 0;
    f->generation = ++all->generations;
}

void svc_lr_drop_migrate(struct svc_framework *f, size_t i)
{
    free(f->migrates[i]);
    f->migrates[i] = f->migrates[--f->n_migrates];
}

/* ---- Users ---- */

int64_t svc_lr_share(const struct svc_lr_all *all, int64_t bound)
{
    return (bound * all->user_share + 99) / 100;
}

struct svc_lr_user svc_lr_user_of(const struct svc_lr_all *all, const char *user)
{
    struct svc_lr_user *u;

    HASH_FIND_STR(all->users, user, u);
    return u ? *u : (struct svc_lr_user){ 0 };
}

static struct svc_lr_user *user_named(struct svc_lr_all *all, const char *name)
{
    struct svc_lr_user *u;

    HASH_FIND_STR(all->users, name, u);
    if (u)
        return u;
    u = calloc(1, sizeof(*u));
    if (u)
        u->name = strdup(name);
    if (!u || !u->name) {
        free(u);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, all->users, u->name, strlen(u->name), u);
    return u;
}

/* Adds what the framework has to the counts of all and of its owner, or takes it from them. */
static void count(struct svc_lr_all *all, struct svc_framework *f, int sign)
{
    int64_t tasks = sign * svc_fw_total_tasks(f->d), bytes = sign * (int64_t)strlen(f->text);
    struct svc_lr_user *u = f->owner;

    all->n_tasks += tasks;
    all->request_bytes += (size_t)bytes;
    u->tasks += tasks;
    u->request_bytes += (size_t)bytes;
    u->text_bytes += (size_t)(sign * (int64_t)f->text_bytes);
    u->frameworks += (size_t)sign;
}

/* Before the owner becomes another one, or the framework goes. */
static void uncount(struct svc_lr_all *all, struct svc_framework *f)
{
    struct svc_lr_user *u = f->owner;

    if (!u)
        return;
    count(all, f, -1);
    f->owner = NULL;
    if (u->frameworks)
        return;
    HASH_DEL(all->users, u);
    free(u->name);
    free(u);
}

void svc_lr_count_texts(struct svc_lr_all *all, struct svc_framework *f, int64_t more)
{
    f->text_bytes += (size_t)more;
    all->text_bytes += (size_t)more;
    if (f->owner)
        f->owner->text_bytes += (size_t)more;
}

/* ---- Families ---- */

struct svc_framework *svc_lr_children(const struct svc_lr_all *all, const char *parent)
{
    struct svc_lr_parent *p;

    HASH_FIND_STR(all->parents, parent, p);
    return p ? p->children : NULL;
}

static struct svc_lr_parent *parent_named(struct svc_lr_all *all, const char *name)
{
    struct svc_lr_parent *p;

    HASH_FIND_STR(all->parents, name, p);
    if (p)
        return p;
    p = calloc(1, sizeof(*p));
    if (p)
        p->name = strdup(name);
    if (!p || !p->name) {
        free(p);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, all->parents, p->name, strlen(p->name), p);
    return p;
}

/* A parent without children goes. */
static void set_parent(struct svc_lr_all *all, struct svc_framework *f, struct svc_lr_parent *to)
{
    struct svc_lr_parent *from = f->parent;

    if (from)
        DL_DELETE2(from->children, f, elder, younger);
    if (to)
        DL_APPEND2(to->children, f, elder, younger);
    f->parent = to;
    if (!from || from->children)
        return;
    HASH_DEL(all->parents, from);
    free(from->name);
    free(from);
}

/* ---- Requests ---- */

int svc_lr_set_descriptor(struct svc_lr_all *all, struct svc_framework *f, struct sv_arena *a,
                          struct svc_fw_descriptor *d, char *text)
{
    struct svc_lr_user *owner = user_named(all, d->user);
    struct svc_lr_parent *parent = owner && d->parent ? parent_named(all, d->parent) : NULL;

    if (!owner || (d->parent && !parent))
        return -ENOMEM;
    set_parent(all, f, parent);
    owner->frameworks++; /* it is not freed with what it had before */
    uncount(all, f);
    owner->frameworks--;
    free(f->text);
    f->text = text;
    f->arena = sv_arena_free(f->arena);
    f->arena = a;
    f->d = d;
    f->owner = owner;
    count(all, f, 1);
    return 0;
}

char *svc_lr_text_of(const struct svc_fw_descriptor *d)
{
    json_t *o = svc_fw_json(d);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

    json_decref(o);
    return text;
}

char *svc_lr_with_value(const char *text, const char *key, const char *old, const char *value)
{
    const char *at = strstr(text, key);
    char *ret = NULL;

    if (!at)
        return NULL;
    at += strlen(key);
    if (strncmp(at, old, strlen(old)) != 0 || !strchr(",}", at[strlen(old)]) ||
        sv_asprintf(&ret, "%.*s%s%s", (int)(at - text), text, value, at + strlen(old)) < 0)
        return NULL;
    return ret;
}

/* `text` is taken; NULL: it is printed anew. */
static int take_text(struct svc_lr_all *all, struct svc_framework *f, char *text)
{
    if (!text)
        text = svc_lr_text_of(f->d);
    if (!text)
        return -ENOMEM;
    count(all, f, -1);
    free(f->text);
    f->text = text;
    count(all, f, 1);
    return 0;
}

int svc_lr_set_number_of(struct svc_lr_all *all, struct svc_framework *f, struct svc_fw_role *r,
                         int32_t n)
{
    int32_t before = r->tasks;
    char key[SVC_FW_NAME_MAX + 32], old[16], value[16];
    int e;

    /* A number of tasks is the first value of a role, and of nothing else. */
    (void)snprintf(key, sizeof(key), "\"%s\":{\"taskNumber\":", r->name);
    (void)snprintf(old, sizeof(old), "%d", before);
    (void)snprintf(value, sizeof(value), "%d", n);
    count(all, f, -1);
    r->tasks = n;
    count(all, f, 1);
    e = take_text(all, f, svc_lr_with_value(f->text, key, old, value));
    if (e < 0) {
        count(all, f, -1);
        r->tasks = before;
        count(all, f, 1);
    }
    return e;
}

int svc_lr_set_stop(struct svc_lr_all *all, struct svc_framework *f, bool stop)
{
    static const char *const names[] = { "\"START\"", "\"STOP\"" };
    int e;

    if (f->d->stop == stop)
        return 0;
    f->d->stop = stop;
    e = take_text(all, f,
                  svc_lr_with_value(f->text, "\"executionType\":", names[!stop], names[stop]));
    if (e < 0)
        f->d->stop = !stop;
    return e;
}

void svc_lr_remove(struct svc_lr_all *all, struct svc_framework *f)
{
    struct yarn_app_id before = f->st.app;

    svc_lr_drop_tasks(all, f);
    f->st.app.id = 0;
    svc_lr_index_app(all, f, before);
    HASH_DEL(all->by_name, f);
    all->n--;
    uncount(all, f);
    set_parent(all, f, NULL);
    svc_lr_status_free(&f->st);
    for (size_t i = 0; i < f->n_migrates; i++)
        free(f->migrates[i]);
    free(f->migrates);
    f->arena = sv_arena_free(f->arena);
    free(f->text);
    free(f->client_host);
    free(f->client_user);
    free(f->name);
    free(f);
}

/* ---- Tasks ---- */

struct svc_lr_role *svc_lr_role_of(const struct svc_framework *f, const char *name)
{
    for (size_t i = 0; i < f->n_roles; i++)
        if (strcmp(f->roles[i].name, name) == 0)
            return &f->roles[i];
    return NULL;
}

static struct svc_lr_role *add_role(struct svc_framework *f, const char *name)
{
    struct svc_lr_role *more = realloc(f->roles, (f->n_roles + 1) * sizeof(*more));
    char *copy = more ? strdup(name) : NULL;
    size_t at = 0;

    if (more)
        f->roles = more;
    if (!copy)
        return NULL;
    while (at < f->n_roles && strcmp(more[at].name, name) < 0)
        at++;
    memmove(&more[at + 1], &more[at], (f->n_roles - at) * sizeof(*more));
    f->n_roles++;
    more[at] = (struct svc_lr_role){ .name = copy };
    return &more[at];
}

static int grow(void **array, int32_t from, int32_t to, size_t size)
{
    char *more = realloc(*array, (size_t)to * size);

    if (!more)
        return -ENOMEM;
    memset(more + (size_t)from * size, 0, (size_t)(to - from) * size);
    *array = more;
    return 0;
}

static int reach(struct svc_lr_role *r, int32_t n)
{
    int e = 0;

    if (n <= r->n)
        return 0;
    e = grow((void **)&r->tasks, r->n, n, sizeof(*r->tasks));
    if (e == 0)
        e = grow((void **)&r->running, r->n, n, sizeof(*r->running));
    if (e == 0)
        e = grow((void **)&r->completed, r->n, n, sizeof(*r->completed));
    if (e == 0)
        r->n = n;
    return e;
}

int svc_lr_set_task(struct svc_lr_all *all, struct svc_framework *f, const struct svc_lr_task *t)
{
    const struct svc_fw_role *asked = svc_fw_role_named(f->d, t->role);
    struct svc_lr_role *r = svc_lr_role_of(f, t->role);
    size_t bytes = t->text ? strlen(t->text) : 0, old;
    int e = 0;

    if (t->index < 0 || (t->index >= (r ? r->n : 0) && (!asked || t->index >= asked->tasks)))
        return t->text ? -EINVAL : 0;
    if (!t->text && (!r || t->index >= r->n))
        return 0;
    old = r && t->index < r->n && r->tasks[t->index] ? strlen(r->tasks[t->index]) : 0;
    if (bytes > SVC_LR_TEXT_MAX || f->text_bytes - old + bytes > SVC_LR_TEXTS_OF_ONE ||
        all->text_bytes - old + bytes > SVC_LR_TEXTS_MAX ||
        (bytes > old &&
         f->owner->text_bytes - old + bytes > (size_t)svc_lr_share(all, (int64_t)SVC_LR_TEXTS_MAX)))
        return -EFBIG;
    if (!r)
        r = add_role(f, t->role);
    e = r ? reach(r, asked && asked->tasks > t->index ? asked->tasks : t->index + 1) : -ENOMEM;
    if (e < 0)
        return e;
    f->running += t->running - r->running[t->index];
    r->running[t->index] = t->running;
    r->completed[t->index] = t->completed;
    free(r->tasks[t->index]);
    r->tasks[t->index] = t->text;
    svc_lr_count_texts(all, f, (int64_t)bytes - (int64_t)old);
    return 0;
}
