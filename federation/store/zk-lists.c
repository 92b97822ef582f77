/* Lists: the children of a folder, and then the value of each, a bounded number at a time. Answers
 * of one session come in the order of its requests, so that sorted names make a sorted list. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "federation/store/zk-operations.h"
#include "federation/store/zk-paths.h"

#define AT_ONCE 64                   /* requests of one list */
#define TASKS_MAX (2 * FED_ROWS_MAX) /* nodes of one list, halves of applications included */
#define VALUE_ARENA_MAX (8u << 20)

static void push(struct fed_zk_run *r, const char *path, const char *name, bool is_record)
{
    struct fed_zk_task *t;

    if (!r->call || r->n_tasks >= TASKS_MAX)
        return;
    t = path ? sv_new(r->call->arena, struct fed_zk_task) : NULL;
    if (!t) {
        fed_zk_fail_status(r, -ENOMEM);
        return;
    }
    *t = (struct fed_zk_task){ .path = path, .name = name, .is_record = is_record };
    if (r->last_task)
        r->last_task->next = t;
    else
        r->tasks = t;
    r->last_task = t;
    r->n_tasks++;
}

/* ---- Records ---- */

/* Homes are sorted by their creation, and so are collected first. */
static void collect_home(struct fed_zk_run *r, const struct fed_home *h)
{
    const char *wanted = r->call->request.home.home;
    struct fed_home *to;

    if (!h->home || (wanted && strcmp(h->home, wanted) != 0))
        return;
    if (r->n_homes == r->homes_room) {
        size_t room = r->homes_room > 0 ? r->homes_room * 2 : 64;

        to = sv_newn(r->call->arena, struct fed_home, room);
        if (!to) {
            fed_zk_fail_status(r, -ENOMEM);
            return;
        }
        if (r->homes)
            memcpy(to, r->homes, r->n_homes * sizeof(*to));
        r->homes = to;
        r->homes_room = room;
    }
    to = &r->homes[r->n_homes++];
    *to = (struct fed_home){ .app = h->app, .created_ms = h->created_ms };
    to->home = sv_arena_strdup(r->call->arena, h->home);
    if (!to->home)
        fed_zk_fail_status(r, -ENOMEM);
}

static void take_record(struct fed_zk_run *r, const union fed_zk_record *record)
{
    struct fed_call *c = r->call;

    if (c->request.op == FED_HOME_LIST)
        collect_home(r, &record->home);
    else if (c->request.op == FED_MEMBER_REGISTER)
        r->starts[r->n_starts++] = record->member.last_start_ms;
    else
        r->full = !fed_call_add(c, record);
}

static void take_broken(struct fed_zk_run *r, const struct fed_zk_task *t, const char *rule)
{
    char path[256];

    if (r->call->request.op == FED_MEMBER_REGISTER)
        return;
    sv_escape(path, sizeof(path), t->path);
    fed_call_broken(r->call,
                    sv_arena_printf(r->call->arena, "node %s: %s", path, rule) ?: "out of memory");
}

static void take_value(struct fed_zk_run *r, const struct sv_zk_answer *a,
                       const struct fed_zk_task *t)
{
    _cleanup_arena_ struct sv_arena *own = sv_arena_new(VALUE_ARENA_MAX);
    union fed_zk_record record;
    const char *rule = "";
    int status = -ENOMEM;

    if (own)
        status = fed_zk_value_read(own, fed_operations[r->call->request.op].kind, t->name,
                                   (struct fed_zk_bytes){ a->data, a->len }, &record, &rule);
    if (status == 0)
        take_record(r, &record);
    else if (status == -EBADMSG)
        take_broken(r, t, rule);
    else
        fed_zk_fail_status(r, status);
}

/* ---- Nodes ---- */

static void next(struct fed_zk_run *r);

/* A node that is gone, or has no value yet, is not in the list. */
static void on_value(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                     const struct fed_zk_task *t)
{
    if (status < 0 && status != -ENOENT)
        fed_zk_fail_status(r, status);
    else if (status == 0 && a->len > 0 && !r->full)
        take_value(r, a, t);
    next(r);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A token's number, or -1: another node. */
static int64_t token_number(const char *child)
{
    int64_t n;

    if (!sv_has_prefix(child, FED_ZK_TOKEN) ||
        sv_parse_i64(child + strlen(FED_ZK_TOKEN), 0, INT32_MAX, &n) < 0)
        return -1;
    return n;
}

struct token {
    int64_t number;
    const char *child;
};

/* The highest first. */
static int by_number(const void *a, const void *b)
{
    const struct token *x = a, *y = b;

    return (x->number < y->number) - (x->number > y->number);
}

/* Those that were asked for, and some more: nodes go while the list is read. All tokens there are
 * are in every answer, of which a caller has a part at a time. */
static void push_tokens(struct fed_zk_run *r, const struct fed_zk_task *folder,
                        const struct sv_zk_answer *children)
{
    const size_t most = 2 * (size_t)fed_call_limit(r->call);
    struct sv_arena *a = r->call->arena;
    struct token *all = sv_newn(a, struct token, children->n_children + 1);
    size_t n = 0;

    if (!all) {
        fed_zk_fail_status(r, -ENOMEM);
        return;
    }
    for (size_t i = 0; i < children->n_children; i++) {
        const int64_t number = token_number(children->children[i]);

        if (number >= 0 && number <= r->call->request.token.sequence)
            all[n++] = (struct token){ number, children->children[i] };
    }
    qsort(all, n, sizeof(*all), by_number);
    for (size_t i = 0; i < n && i < most && r->call; i++) {
        const char *name = sv_arena_printf(a, "%" PRId64, all[i].number);

        push(r, name ? sv_arena_printf(a, "%s/%s", folder->path, all[i].child) : NULL, name, true);
    }
}

/* A child of a folder: a record, or the first half of applications' ids. */
static void push_child(struct fed_zk_run *r, const struct fed_zk_task *folder, const char *child)
{
    struct sv_arena *a = r->call->arena;
    enum fed_op op = r->call->request.op;
    const char *path = sv_arena_printf(a, "%s/%s", folder->path, child);
    const char *name =
        folder->name ? sv_arena_printf(a, "%s%s", folder->name, child) : sv_arena_strdup(a, child);
    bool halves = !folder->name && strstr(folder->path, "/HIERARCHIES/");

    if (op == FED_HOME_LIST && !sv_has_prefix(name ?: "", FED_ZK_APPLICATION))
        return; /* "HIERARCHIES", and what is nobody's */
    if (op == FED_MEMBER_REGISTER && sv_streq(child, r->call->request.member.id))
        return;
    push(r, name ? path : NULL, name, !halves);
}

static void on_children(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                        const struct fed_zk_task *t)
{
    size_t n = status == 0 ? SV_MIN(a->n_children, (size_t)TASKS_MAX) : 0;
    const char **names;

    if (status < 0 && status != -ENOENT) {
        fed_zk_fail_status(r, status);
        return;
    }
    if (status == 0 && r->call->request.op == FED_TOKEN_LIST) {
        push_tokens(r, t, a);
        next(r);
        return;
    }
    names = sv_newn(r->call->arena, const char *, n + 1);
    if (!names) {
        fed_zk_fail_status(r, -ENOMEM);
        return;
    }
    for (size_t i = 0; i < n; i++)
        names[i] = a->children[i];
    qsort(names, n, sizeof(*names), by_name);
    for (size_t i = 0; i < n && r->call; i++)
        push_child(r, t, names[i]);
    next(r);
}

/* The latest first; of one time, by application. */
static int by_creation(const void *a, const void *b)
{
    const struct fed_home *x = a, *y = b;

    if (x->created_ms != y->created_ms)
        return x->created_ms < y->created_ms ? 1 : -1;
    if (x->app.cluster_ts != y->app.cluster_ts)
        return x->app.cluster_ts < y->app.cluster_ts ? -1 : 1;
    return (x->app.id > y->app.id) - (x->app.id < y->app.id);
}

static void finish(struct fed_zk_run *r)
{
    if (r->n_homes > 0)
        qsort(r->homes, r->n_homes, sizeof(*r->homes), by_creation);
    for (size_t i = 0; i < r->n_homes; i++)
        if (!fed_call_add(r->call, &r->homes[i]))
            break;
    r->listed(r);
}

/* Sends what may be sent; the end of the list is where nothing is on its way. */
static void next(struct fed_zk_run *r)
{
    while (r->call && !r->lost && r->tasks && !r->full && r->open < AT_ONCE) {
        struct fed_zk_task *t = r->tasks;

        r->tasks = t->next;
        if (!r->tasks)
            r->last_task = NULL;
        if (t->is_record)
            fed_zk_get(r, t->path, on_value, t);
        else
            fed_zk_children(r, t->path, on_children, t);
    }
    if (r->call && !r->lost && r->open == 0)
        finish(r);
}

void fed_zk_list(struct fed_zk_run *r)
{
    enum fed_kind kind = fed_operations[r->call->request.op].kind;
    unsigned places = kind == FED_HOME ? FED_ZK_PLACES : 1;

    r->listed = r->listed ?: fed_zk_done;
    for (unsigned i = 0; i < places && r->call; i++)
        push(r, fed_zk_folder(r->call->arena, r->z->root, kind, i), NULL, false);
    next(r);
}

void fed_zk_list_starts(struct fed_zk_run *r, void (*listed)(struct fed_zk_run *r))
{
    r->starts = sv_newn(r->call->arena, int64_t, TASKS_MAX);
    if (!r->starts) {
        fed_zk_fail_status(r, -ENOMEM);
        return;
    }
    r->listed = listed;
    fed_zk_list(r);
}
