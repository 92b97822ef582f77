/* The launcher's store in ZooKeeper, as its back end: what was read, and what is written; see ha.h.
 * Rows of one transaction are gathered here, and are the writer's with the commit. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/str.h"
#include "service/ha/ha.h"
#include "service/ha/nodes.h"
#include "service/ha/reading.h"
#include "service/ha/writer.h"

#define VALUE_MAX ((size_t)512 << 10) /* with what stands around it, a request's part */
#define ROW_MAX ((size_t)900 << 10)   /* a value that no request of ZooKeeper's has room for */
#define SWEEP_NODES 2000              /* of one turn */
#define BREATH ((size_t)1 << 20)      /* bytes that are read between two breaths: 20 ms or so */
#define ROW_COST 2000                 /* a row, beside its bytes */

struct set { /* a dropped set of tasks, whose nodes are to be removed */
    int64_t tasks;
    uint64_t ticket; /* of the commit that dropped it, or swept it last */
    struct set *prev, *next;
};
struct zk_store {
    struct svc_lr_store store; /* first */
    char *root;
    struct svc_ha_writer *w; /* NULL: it has ended */
    struct svc_ha_texts texts;
    const int64_t *until_ms;
    void (*breathe)(void *userdata);
    void (*closed)(void *userdata);
    void *userdata;
    struct svc_ha_batch changes; /* of the open transaction */
    struct set *dropped;
    bool read; /* given once: afterwards memory alone has it */
    bool failed;
};

static struct zk_store *of(struct svc_lr_store *s)
{
    return (struct zk_store *)s;
}

/* ---- Writing ---- */

static void fail(struct zk_store *s, const char *fmt, ...) _printf_(2, 3);
static void fail(struct zk_store *s, const char *fmt, ...)
{
    va_list ap;

    if (s->failed)
        return;
    s->failed = true;
    va_start(ap, fmt);
    (void)vsnprintf(s->store.why, sizeof(s->store.why), fmt, ap);
    va_end(ap);
}

static void change(struct zk_store *s, const char *owner, const char *path, const struct sv_buf *v)
{
    struct svc_ha_change *c =
        svc_ha_change_new(path, v ? (const void *)v->data : NULL, v ? v->len : 0);

    if (!c || svc_ha_batch_add(&s->changes, owner ? owner : "", c) < 0)
        fail(s, "out of memory");
}

static void put(struct zk_store *s, const struct svc_lr_row *row)
{
    _cleanup_buf_ struct sv_buf value = SV_BUF_INIT(ROW_MAX);
    _cleanup_free_ char *path = NULL;
    char node[SVC_HA_PATH_MAX];
    bool removes = row->kind == SVC_LR_ROW_NO_TASK || row->kind == SVC_LR_ROW_KILLED;

    if (svc_ha_node_path(row, node) < 0 || sv_asprintf(&path, "%s/%s", s->root, node) < 0)
        fail(s, "out of memory");
    else if (removes)
        change(s, row->owner, path, NULL);
    else if (!row->value)
        fail(s, "out of memory"); /* of the text */
    else if (svc_ha_node_value(row, &value) < 0)
        fail(s, "%s: the value of %zu bytes is too long for a node of ZooKeeper", node,
             strlen(row->value));
    else
        change(s, row->owner, path, &value);
}

static void drop(struct zk_store *s, int64_t tasks)
{
    struct set *set = calloc(1, sizeof(*set));

    if (!set)
        return; /* after the next start its nodes are found */
    set->tasks = tasks;
    set->ticket = svc_lr_store_ticket(&s->store);
    DL_APPEND(s->dropped, set);
}

static void write_row(struct svc_lr_store *store, const struct svc_lr_row *row)
{
    struct zk_store *s = of(store);
    struct svc_lr_row both = *row;

    if (row->kind == SVC_LR_ROW_DROP) {
        drop(s, row->tasks);
        return;
    }
    if (row->kind != SVC_LR_ROW_REMOVE) {
        put(s, row);
        return;
    }
    for (int i = 0; i < 2; i++) {
        char node[SVC_HA_PATH_MAX];
        _cleanup_free_ char *path = NULL;

        both.kind = i ? SVC_LR_ROW_STATUS : SVC_LR_ROW_REQUEST;
        if (svc_ha_node_path(&both, node) < 0 || sv_asprintf(&path, "%s/%s", s->root, node) < 0)
            fail(s, "out of memory");
        else
            change(s, row->owner, path, NULL);
    }
}

static void begin(struct svc_lr_store *store)
{
    svc_ha_batch_free(&of(store)->changes);
}

/* A set that is dropped stays so: its framework has another one, or will not be written any more,
 * for a store that has failed once is read anew. */
static void rollback(struct svc_lr_store *store)
{
    svc_ha_batch_free(&of(store)->changes);
}

static int commit(struct svc_lr_store *store)
{
    struct zk_store *s = of(store);
    int r;

    if (!s->w)
        fail(s, "this server is not active");
    if (s->failed) {
        rollback(store);
        return -EIO;
    }
    r = svc_ha_writer_commit(s->w, &s->changes, svc_lr_store_ticket(store));
    if (r < 0)
        fail(s, "%s", r == -ENOMEM ? "out of memory" : "ZooKeeper does not take it");
    return r < 0 ? -EIO : 0;
}

static uint64_t kept(const struct svc_lr_store *store)
{
    const struct zk_store *s = (const struct zk_store *)store;

    return s->w ? svc_ha_writer_kept(s->w) : 0;
}

static bool may_act(const struct svc_lr_store *store)
{
    const struct zk_store *s = (const struct zk_store *)store;

    return s->w && !s->failed && sv_now_ms() < *s->until_ms;
}

/* ---- Sweeping ---- */

static bool has_dropped(const struct svc_lr_store *store)
{
    const struct zk_store *s = (const struct zk_store *)store;

    return s->w && s->dropped && s->dropped->ticket <= svc_ha_writer_shown(s->w);
}

/* The nodes below, deepest first. Three levels at most. */
static void remove_below(struct zk_store *s, struct svc_ha_node *n, size_t *left)
{
    struct svc_ha_node *child;

    DL_FOREACH (n->children, child) {
        if (*left == 0)
            return;
        remove_below(s, child, left);
    }
    if (*left > 0) {
        change(s, NULL, n->path, NULL);
        (*left)--;
    }
}

static void sweep(struct svc_lr_store *store)
{
    struct zk_store *s = of(store);
    struct set *set = s->dropped;
    char node[SVC_HA_PATH_MAX];
    _cleanup_free_ char *path = NULL;
    struct svc_ha_node *n;
    size_t left = SWEEP_NODES;

    svc_ha_set_path(set->tasks, node);
    if (sv_asprintf(&path, "%s/%s", s->root, node) < 0)
        return;
    n = svc_ha_tree_find(svc_ha_writer_tree(s->w), path, strlen(path));
    if (n) {
        remove_below(s, n, &left);
        set->ticket = svc_lr_store_ticket(store);
    } else {
        DL_DELETE(s->dropped, set);
        free(set);
    }
}

/* ---- Reading ---- */

struct owner { /* of a set of tasks */
    int64_t tasks;
    const struct svc_lr_row *request;
    const char *status;
    UT_hash_handle hh, by_name;
};
struct found {
    struct zk_store *s;
    struct svc_lr_row *rows;
    size_t n;
    struct owner *owners; /* an array, of which each has a request */
    struct owner *by_tasks, *by_name;
    const struct svc_lr_rows *to;
    void *userdata;
    size_t since; /* the last breath: bytes, and what a row costs */
};

/* Rows of hundreds of MiB take longer than a session lasts. -EIO: the server is not active any
 * more.
 */
static int breathe(struct found *f, size_t bytes)
{
    f->since += bytes + ROW_COST;
    if (f->since < BREATH)
        return 0;
    f->since = 0;
    f->s->breathe(f->s->userdata);
    return f->s->w ? 0 : -EIO;
}

static int read_nodes(struct found *f)
{
    struct svc_ha_texts *t = &f->s->texts;

    f->rows = calloc(t->n + 1, sizeof(*f->rows));
    f->owners = calloc(t->n + 1, sizeof(*f->owners));
    if (!f->rows || !f->owners)
        return -ENOMEM;
    for (; f->n < t->n; f->n++) {
        struct svc_ha_text *text = &t->list[f->n];

        if (svc_ha_node_read(text->path, text->value, text->len, &f->rows[f->n]) < 0)
            return -EUCLEAN;
        if (breathe(f, 0) < 0)
            return -EIO;
    }
    return 0;
}

/* Requests by their names and sets, with their statuses. */
static int join(struct found *f)
{
    struct owner *o, *other;

    for (size_t i = 0; i < f->n; i++) {
        if (f->rows[i].kind != SVC_LR_ROW_REQUEST)
            continue;
        o = &f->owners[i];
        o->tasks = f->rows[i].tasks;
        o->request = &f->rows[i];
        HASH_FIND(hh, f->by_tasks, &o->tasks, sizeof(o->tasks), other);
        if (other)
            return -EUCLEAN; /* a set of two */
        HASH_ADD(hh, f->by_tasks, tasks, sizeof(o->tasks), o);
        HASH_ADD_KEYPTR(by_name, f->by_name, o->request->name, strlen(o->request->name), o);
    }
    for (size_t i = 0; i < f->n; i++) {
        if (f->rows[i].kind != SVC_LR_ROW_STATUS)
            continue;
        HASH_FIND(by_name, f->by_name, f->rows[i].name, strlen(f->rows[i].name), o);
        if (!o)
            return -EUCLEAN;
        o->status = f->rows[i].value;
    }
    return 0;
}

static int give_others(struct found *f, int kind)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < f->n; i++) {
        const struct svc_lr_row *row = &f->rows[i];
        struct owner *o;

        if (row->kind != (enum svc_lr_row_kind)kind)
            continue;
        if (kind == SVC_LR_ROW_META) {
            r = f->to->meta(f->userdata, row->name, row->value);
        } else if (kind == SVC_LR_ROW_KILL) {
            r = f->to->kill(f->userdata, row->name, row->value, row->more);
        } else {
            HASH_FIND(hh, f->by_tasks, &row->tasks, sizeof(row->tasks), o);
            if (o)
                r = f->to->task(f->userdata, o->request->name, row->role, row->index, row->value);
        }
        if (r == 0)
            r = breathe(f, strlen(row->value));
    }
    return r;
}

static int give_frameworks(struct found *f)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < f->n; i++) {
        const struct owner *o = &f->owners[i];

        if (o->request)
            r = o->status ? f->to->framework(f->userdata, o->request->name, o->request->value,
                                             o->status, o->tasks)
                          : -EUCLEAN;
        if (r == 0 && o->request)
            r = breathe(f, strlen(o->request->value));
    }
    return r;
}

/* Sets that no framework has, from the nodes: one may have no tasks. */
static int give_dropped(struct found *f)
{
    const struct svc_ha_tree *t = svc_ha_writer_tree(f->s->w);
    _cleanup_free_ char *path = NULL;
    char none[SVC_HA_PATH_MAX];
    const struct svc_ha_node *all, *n;
    size_t len;
    int r = 0;

    svc_ha_set_path(0, none);
    if (sv_asprintf(&path, "%s/%s", f->s->root, none) < 0)
        return -ENOMEM;
    len = (size_t)(strrchr(path, '/') - path);
    all = svc_ha_tree_find(t, path, len);
    DL_FOREACH (all ? all->children : NULL, n) {
        int64_t tasks = 0;
        struct owner *o;

        if (sv_parse_i64(n->path + len + 1, 0, INT64_MAX, &tasks) < 0)
            return -EUCLEAN;
        HASH_FIND(hh, f->by_tasks, &tasks, sizeof(tasks), o);
        if (o)
            continue;
        drop(f->s, tasks);
        r = f->to->dropped(f->userdata, tasks);
        if (r < 0)
            break;
    }
    return r;
}

static int load(struct svc_lr_store *store, const struct svc_lr_rows *rows, void *userdata,
                struct sv_error *err)
{
    struct zk_store *s = of(store);
    struct found f = { .s = s, .to = rows, .userdata = userdata };
    int r = !s->w || s->read ? -EIO : s->texts.list ? read_nodes(&f) : 0;

    s->read = true;
    if (r == 0 && f.rows)
        r = join(&f);
    if (r == 0)
        r = give_others(&f, SVC_LR_ROW_META);
    if (r == 0 && f.rows)
        r = give_frameworks(&f);
    if (r == 0)
        r = give_dropped(&f);
    if (r == 0)
        r = give_others(&f, SVC_LR_ROW_TASK);
    if (r == 0)
        r = give_others(&f, SVC_LR_ROW_KILL);
    HASH_CLEAR(hh, f.by_tasks);
    HASH_CLEAR(by_name, f.by_name);
    free(f.rows);
    free(f.owners);
    svc_ha_texts_free(&s->texts); /* after a failure the server is to be active anew */
    return r == 0 ? 0
                  : sv_error_set(err, r,
                                 "frameworks: the nodes of ZooKeeper below %s are not the store of "
                                 "a launcher (%s); put a copy back, or name another root",
                                 s->root, strerror(-r));
}

/* ---- Life ---- */

static struct svc_lr_store *close_store(struct svc_lr_store *store)
{
    struct zk_store *s = of(store);
    struct set *set, *tmp;

    s->closed(s->userdata);
    DL_FOREACH_SAFE (s->dropped, set, tmp)
        free(set);
    svc_ha_batch_free(&s->changes);
    svc_ha_texts_free(&s->texts);
    free(s->root);
    free(s);
    return NULL;
}

static const struct svc_lr_store_backend backend = {
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .write = write_row,
    .has_dropped = has_dropped,
    .sweep = sweep,
    .load = load,
    .close = close_store,
    .kept = kept,
    .may_act = may_act,
    .value_max = VALUE_MAX,
};

struct svc_lr_store *svc_ha_store_new(const struct svc_ha_store_config *cfg)
{
    struct zk_store *s = calloc(1, sizeof(*s));

    if (s)
        s->root = strdup(cfg->root);
    if (!s || !s->root) {
        free(s);
        return NULL;
    }
    s->store.backend = &backend;
    s->w = cfg->w;
    s->texts = *cfg->texts;
    *cfg->texts = (struct svc_ha_texts){ 0 };
    s->until_ms = cfg->until_ms;
    s->breathe = cfg->breathe;
    s->closed = cfg->closed;
    s->userdata = cfg->userdata;
    return &s->store;
}

void svc_ha_store_end(struct svc_lr_store *store, const char *why)
{
    fail(of(store), "%s", why);
    of(store)->w = NULL;
}
