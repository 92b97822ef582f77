/* ZooKeeper in memory, with sessions, behind the functions of common/zookeeper/zk.h, which the test
 * program wraps. Requests are done by fake_zk_run(). */
#ifndef SELVEDGE_TESTS_ZOOKEEPER_FIXTURE_H
#define SELVEDGE_TESTS_ZOOKEEPER_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <uthash.h>
#include <utlist.h>

#include "common/zookeeper/zk.h"

#define FAKE_SESSION_MS 900

struct fake_node {
    char *path, *data;
    size_t len;
    int32_t version;
    const struct sv_zk *session; /* of an ephemeral one */
    UT_hash_handle hh;
};
struct sv_zk {
    struct sv_zk_config cfg;
    bool up;
};
enum { FAKE_GET = 100, FAKE_CHILDREN };
struct fake_request {
    struct sv_zk *z;
    int kind; /* of enum sv_zk_kind, of those above, or many operations */
    struct sv_zk_op *ops;
    size_t n;
    bool multi;
    sv_zk_done done;
    void *userdata;
    struct fake_request *prev, *next;
};
static struct {
    struct fake_node *nodes;
    struct fake_request *requests;
    struct sv_zk *last; /* that was made */
    unsigned multis;    /* that were done, or not */
    unsigned breaths;
    bool expires; /* with the next breath */
} fake_zk;

/* ---- Nodes ---- */

static struct fake_node *fake_zk_find(const char *path)
{
    struct fake_node *n;

    HASH_FIND_STR(fake_zk.nodes, path, n);
    return n;
}
static void fake_zk_drop(struct fake_node *n)
{
    HASH_DEL(fake_zk.nodes, n);
    free(n->path);
    free(n->data);
    free(n);
}
static bool fake_zk_is_child(const char *path, const char *of)
{
    size_t n = strlen(of);

    return strncmp(path, of, n) == 0 && path[n] == '/' && !strchr(path + n + 1, '/');
}
static bool fake_zk_has_children(const char *path)
{
    for (struct fake_node *n = fake_zk.nodes; n; n = n->hh.next)
        if (fake_zk_is_child(n->path, path))
            return true;
    return false;
}
static bool fake_zk_has_parent(const char *path)
{
    const char *last = strrchr(path, '/');
    char *above = strndup(path, (size_t)(last - path));
    bool has = last == path || fake_zk_find(above);

    free(above);
    return has;
}
static void fake_zk_set_data(struct fake_node *n, const struct sv_zk_op *op)
{
    free(n->data);
    n->data = malloc(op->len + 1);
    assert_non_null(n->data);
    if (op->len)
        memcpy(n->data, op->data, op->len);
    n->data[op->len] = '\0';
    n->len = op->len;
}
static int fake_zk_check(const struct sv_zk_op *op)
{
    struct fake_node *n = fake_zk_find(op->path);

    if (op->kind == SV_ZK_OP_CREATE)
        return n ? -EEXIST : fake_zk_has_parent(op->path) ? 0 : -ENOENT;
    if (!n)
        return -ENOENT;
    if (op->version != SV_ZK_ANY_VERSION && op->version != n->version)
        return -ESTALE;
    return op->kind == SV_ZK_OP_REMOVE && fake_zk_has_children(op->path) ? -ENOTEMPTY : 0;
}
static void fake_zk_do(const struct sv_zk *z, const struct sv_zk_op *op)
{
    struct fake_node *n = fake_zk_find(op->path);

    if (op->kind == SV_ZK_OP_REMOVE) {
        fake_zk_drop(n);
        return;
    }
    if (op->kind == SV_ZK_OP_CREATE) {
        n = calloc(1, sizeof(*n));
        assert_non_null(n);
        n->path = strdup(op->path);
        n->session = op->mode & SV_ZK_EPHEMERAL ? z : NULL;
        n->version = -1;
        HASH_ADD_KEYPTR(hh, fake_zk.nodes, n->path, strlen(n->path), n);
    }
    fake_zk_set_data(n, op);
    n->version++;
}
/* All or none: each is done, and undone from a copy where one cannot be. */
static int fake_zk_do_all(const struct sv_zk *z, const struct sv_zk_op *ops, size_t n)
{
    int r = fake_zk_check(&ops[0]);

    if (r < 0)
        return r; /* the fencing node's, alone or before all others */
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(fake_zk_check(&ops[i]), 0); /* whoever is not fenced knows the nodes */
        fake_zk_do(z, &ops[i]);
    }
    return 0;
}

/* ---- Requests ---- */

static void fake_zk_answer(struct fake_request *q, int status)
{
    struct fake_node *n = q->n ? fake_zk_find(q->ops[0].path) : NULL;
    struct sv_zk_answer a = { .data = "", .path = q->n ? q->ops[0].path : "" };
    char **names = NULL;

    if (status == 0 && n) {
        a.data = n->data;
        a.len = n->len;
        a.version = n->version;
    }
    if (status == 0 && q->kind == FAKE_CHILDREN) {
        names = calloc(HASH_COUNT(fake_zk.nodes) + 1, sizeof(*names));
        for (n = fake_zk.nodes; n; n = n->hh.next)
            if (fake_zk_is_child(n->path, q->ops[0].path))
                names[a.n_children++] = strrchr(n->path, '/') + 1;
        a.children = names;
    }
    q->done(status, &a, q->userdata);
    free(names);
}
static void fake_zk_free_request(struct fake_request *q)
{
    for (size_t i = 0; i < q->n; i++) {
        free((char *)(uintptr_t)q->ops[i].path);
        free((void *)(uintptr_t)q->ops[i].data);
    }
    free(q->ops);
    free(q);
}
static int fake_zk_run_one(struct fake_request *q)
{
    if (q->kind == FAKE_GET || q->kind == FAKE_CHILDREN)
        return fake_zk_find(q->ops[0].path) ? 0 : -ENOENT;
    fake_zk.multis += q->multi;
    return fake_zk_do_all(q->z, q->ops, q->n);
}
/* Does all requests of `of`, and those that follow; NULL: of every session. */
static void fake_zk_run(const struct sv_zk *of)
{
    struct fake_request *q, *tmp;
    bool more = true;

    while (more) {
        more = false;
        DL_FOREACH_SAFE (fake_zk.requests, q, tmp) {
            if (of && q->z != of)
                continue;
            DL_DELETE(fake_zk.requests, q);
            fake_zk_answer(q, fake_zk_run_one(q));
            fake_zk_free_request(q);
            more = true;
            break;
        }
    }
}
/* Does the first request of `of` alone. */
static __attribute__((unused)) void fake_zk_run_first(const struct sv_zk *of)
{
    struct fake_request *q = fake_zk.requests;

    while (q && q->z != of)
        q = q->next;
    assert_non_null(q);
    DL_DELETE(fake_zk.requests, q);
    fake_zk_answer(q, fake_zk_run_one(q));
    fake_zk_free_request(q);
}
/* Its connection is lost, and its requests were done or not. */
static __attribute__((unused)) void fake_zk_cut(struct sv_zk *z, bool done)
{
    struct fake_request *lost = NULL, *q, *tmp;

    z->up = false;
    DL_FOREACH_SAFE (fake_zk.requests, q, tmp) {
        if (q->z != z)
            continue;
        DL_DELETE(fake_zk.requests, q);
        DL_APPEND(lost, q);
    }
    DL_FOREACH_SAFE (lost, q, tmp) {
        if (done)
            (void)fake_zk_run_one(q);
        fake_zk_answer(q, -ENOTCONN);
        fake_zk_free_request(q);
    }
    z->cfg.event(SV_ZK_DOWN, z->cfg.userdata);
}
static void fake_zk_up(struct sv_zk *z)
{
    z->up = true;
    z->cfg.event(SV_ZK_UP, z->cfg.userdata);
}
/* The servers have ended its session, which it does not know yet. */
static __attribute__((unused)) void fake_zk_end(struct sv_zk *z)
{
    struct fake_node *n, *tmp;

    HASH_ITER (hh, fake_zk.nodes, n, tmp)
        if (n->session == z)
            fake_zk_drop(n);
}
/* And now it does. */
static __attribute__((unused)) void fake_zk_expire(struct sv_zk *z)
{
    fake_zk_end(z);
    fake_zk_cut(z, false);
    z->cfg.event(SV_ZK_EXPIRED, z->cfg.userdata);
    fake_zk_up(z);
}
static __attribute__((unused)) void fake_zk_clear(void)
{
    struct fake_node *n, *tmp;

    assert_null(fake_zk.requests);
    HASH_ITER (hh, fake_zk.nodes, n, tmp)
        fake_zk_drop(n);
}

/* ---- The functions ---- */

int __wrap_sv_zk_new(sd_event *event, const struct sv_zk_config *cfg, struct sv_zk **ret,
                     struct sv_error *err);
int __wrap_sv_zk_new(sd_event *event, const struct sv_zk_config *cfg, struct sv_zk **ret,
                     struct sv_error *err)
{
    (void)event;
    (void)err;
    *ret = fake_zk.last = calloc(1, sizeof(**ret));
    assert_non_null(*ret);
    (*ret)->cfg = *cfg;
    return 0;
}
struct sv_zk *__wrap_sv_zk_end(struct sv_zk *z);
struct sv_zk *__wrap_sv_zk_end(struct sv_zk *z)
{
    struct fake_request *q, *tmp;

    if (!z)
        return NULL;
    z->up = false;
    DL_FOREACH_SAFE (fake_zk.requests, q, tmp) {
        if (q->z != z)
            continue;
        DL_DELETE(fake_zk.requests, q);
        fake_zk_answer(q, -ECANCELED);
        fake_zk_free_request(q);
    }
    fake_zk_end(z);
    free(z);
    return NULL;
}
void __wrap_sv_zk_breathe(struct sv_zk *z);
void __wrap_sv_zk_breathe(struct sv_zk *z)
{
    fake_zk.breaths++;
    if (fake_zk.expires)
        fake_zk_expire(z);
    else
        fake_zk_run(z);
}
bool __wrap_sv_zk_connected(const struct sv_zk *z);
bool __wrap_sv_zk_connected(const struct sv_zk *z)
{
    return z->up;
}
uint32_t __wrap_sv_zk_session_ms(const struct sv_zk *z);
uint32_t __wrap_sv_zk_session_ms(const struct sv_zk *z)
{
    return z->up ? FAKE_SESSION_MS : 0;
}
static int fake_zk_ask(struct sv_zk *z, int kind, const struct sv_zk_op *ops, size_t n,
                       sv_zk_done done, void *userdata)
{
    struct fake_request *q;

    if (!z->up)
        return -ENOTCONN;
    q = calloc(1, sizeof(*q));
    assert_non_null(q);
    *q = (struct fake_request){ .z = z, .kind = kind, .n = n, .done = done, .userdata = userdata };
    q->ops = calloc(n, sizeof(*ops));
    assert_non_null(q->ops);
    for (size_t i = 0; i < n; i++) {
        q->ops[i] = ops[i];
        q->ops[i].path = strdup(ops[i].path);
        q->ops[i].data = malloc(ops[i].len + 1);
        if (ops[i].len)
            memcpy((void *)(uintptr_t)q->ops[i].data, ops[i].data, ops[i].len);
    }
    DL_APPEND(fake_zk.requests, q);
    return 0;
}
int __wrap_sv_zk_create(struct sv_zk *z, const char *path, const void *data, size_t len,
                        unsigned mode, sv_zk_done done, void *userdata);
int __wrap_sv_zk_create(struct sv_zk *z, const char *path, const void *data, size_t len,
                        unsigned mode, sv_zk_done done, void *userdata)
{
    const struct sv_zk_op op = { SV_ZK_OP_CREATE, path, data, len, 0, mode };

    return fake_zk_ask(z, op.kind, &op, 1, done, userdata);
}
int __wrap_sv_zk_set(struct sv_zk *z, const char *path, const void *data, size_t len,
                     int32_t version, sv_zk_done done, void *userdata);
int __wrap_sv_zk_set(struct sv_zk *z, const char *path, const void *data, size_t len,
                     int32_t version, sv_zk_done done, void *userdata)
{
    const struct sv_zk_op op = { SV_ZK_OP_SET, path, data, len, version, 0 };

    return fake_zk_ask(z, op.kind, &op, 1, done, userdata);
}
int __wrap_sv_zk_get(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata);
int __wrap_sv_zk_get(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata)
{
    const struct sv_zk_op op = { .path = path };

    return fake_zk_ask(z, FAKE_GET, &op, 1, done, userdata);
}
int __wrap_sv_zk_children(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata);
int __wrap_sv_zk_children(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata)
{
    const struct sv_zk_op op = { .path = path };

    return fake_zk_ask(z, FAKE_CHILDREN, &op, 1, done, userdata);
}
int __wrap_sv_zk_remove(struct sv_zk *z, const char *path, int32_t version, sv_zk_done done,
                        void *userdata);
int __wrap_sv_zk_remove(struct sv_zk *z, const char *path, int32_t version, sv_zk_done done,
                        void *userdata)
{
    const struct sv_zk_op op = { .kind = SV_ZK_OP_REMOVE, .path = path, .version = version };

    return fake_zk_ask(z, op.kind, &op, 1, done, userdata);
}
int __wrap_sv_zk_multi(struct sv_zk *z, const struct sv_zk_op *ops, size_t n, sv_zk_done done,
                       void *userdata);
int __wrap_sv_zk_multi(struct sv_zk *z, const struct sv_zk_op *ops, size_t n, sv_zk_done done,
                       void *userdata)
{
    int r = fake_zk_ask(z, SV_ZK_OP_SET, ops, n, done, userdata);
    size_t bytes = 0;

    for (size_t i = 0; i < n; i++)
        bytes += ops[i].len + strlen(ops[i].path);
    assert_true(n <= SV_ZK_OPS_MAX && bytes <= SV_ZK_DATA_MAX);
    if (r == 0)
        fake_zk.requests->prev->multi = true; /* the last of the list */
    return r;
}

#endif
