/* Tests registry/zookeeper.c on nodes in memory, in the place of a session: what the requests of
 * the registry become, also when others change the nodes meanwhile. */
#include "registry/zookeeper.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "common/zookeeper/zk.h"
#include "registry/record.h"

#define NODES_MAX 64
#define OPEN_MAX 16

struct node {
    char path[256], data[64];
};
struct reply {
    sv_zk_done done;
    void *userdata;
    int status;
    char data[64];
    size_t len;
    char *children[NODES_MAX];
    size_t n_children;
};

static struct node nodes[NODES_MAX];
static size_t n_nodes, n_requests;
static struct reply replies[OPEN_MAX];
static size_t n_replies;
static struct sv_zk_config session;
static bool connected;
static void (*meddle)(void); /* before a request is done */
static struct reg_backend *backend;

/* ---- The session ---- */

int __wrap_sv_zk_new(sd_event *event, const struct sv_zk_config *cfg, struct sv_zk **ret,
                     struct sv_error *err);
struct sv_zk *__wrap_sv_zk_free(struct sv_zk *z);
int __wrap_sv_zk_create(struct sv_zk *z, const char *path, const void *data, size_t len,
                        unsigned mode, sv_zk_done done, void *userdata);
int __wrap_sv_zk_set(struct sv_zk *z, const char *path, const void *data, size_t len,
                     int32_t version, sv_zk_done done, void *userdata);
int __wrap_sv_zk_get(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata);
int __wrap_sv_zk_children(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata);
int __wrap_sv_zk_remove(struct sv_zk *z, const char *path, int32_t version, sv_zk_done done,
                        void *userdata);

static struct node *find(const char *path)
{
    for (size_t i = 0; i < n_nodes; i++)
        if (strcmp(nodes[i].path, path) == 0)
            return &nodes[i];
    return NULL;
}

static void add(const char *path, const void *data, size_t len)
{
    struct node *n = &nodes[n_nodes++];

    assert_true(n_nodes <= NODES_MAX);
    (void)snprintf(n->path, sizeof(n->path), "%s", path);
    (void)snprintf(n->data, sizeof(n->data), "%.*s", (int)len, len ? (const char *)data : "");
}

static bool parent_is_there(const char *path)
{
    char parent[256];

    (void)snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(path, '/') - path), path);
    return !*parent || find(parent);
}

/* Names of the children of a node. */
static size_t children_of(const char *path, char **ret)
{
    size_t n = 0, len = strlen(path);

    for (size_t i = 0; i < n_nodes; i++)
        if (strncmp(nodes[i].path, path, len) == 0 && nodes[i].path[len] == '/' &&
            !strchr(nodes[i].path + len + 1, '/')) {
            if (ret)
                ret[n] = strdup(nodes[i].path + len + 1);
            n++;
        }
    return n;
}

static int begin(sv_zk_done done, void *userdata, int status, struct reply **ret)
{
    if (!connected)
        return -ENOTCONN;
    assert_true(n_replies < OPEN_MAX);
    n_requests++;
    replies[n_replies] = (struct reply){ .done = done, .userdata = userdata, .status = status };
    if (ret)
        *ret = &replies[n_replies];
    n_replies++;
    return 0;
}

static void about_to(void)
{
    if (meddle)
        meddle();
}

int __wrap_sv_zk_new(sd_event *event, const struct sv_zk_config *cfg, struct sv_zk **ret,
                     struct sv_error *err)
{
    (void)event;
    (void)err;
    session = *cfg;
    *ret = (struct sv_zk *)&session;
    return 0;
}

struct sv_zk *__wrap_sv_zk_free(struct sv_zk *z)
{
    const struct sv_zk_answer none = { 0 };

    (void)z;
    for (; n_replies > 0; n_replies--)
        replies[n_replies - 1].done(-ECANCELED, &none, replies[n_replies - 1].userdata);
    return NULL;
}

int __wrap_sv_zk_create(struct sv_zk *z, const char *path, const void *data, size_t len,
                        unsigned mode, sv_zk_done done, void *userdata)
{
    int status = 0;

    (void)z;
    about_to();
    assert_int_equal(mode, SV_ZK_PERSISTENT);
    if (find(path))
        status = -EEXIST;
    else if (!parent_is_there(path))
        status = -ENOENT;
    else
        add(path, data, len);
    return begin(done, userdata, status, NULL);
}

int __wrap_sv_zk_set(struct sv_zk *z, const char *path, const void *data, size_t len,
                     int32_t version, sv_zk_done done, void *userdata)
{
    struct node *n;

    (void)z;
    about_to();
    assert_int_equal(version, SV_ZK_ANY_VERSION);
    n = find(path);
    if (n)
        (void)snprintf(n->data, sizeof(n->data), "%.*s", (int)len, (const char *)data);
    return begin(done, userdata, n ? 0 : -ENOENT, NULL);
}

int __wrap_sv_zk_get(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata)
{
    struct node *n = find(path);
    struct reply *q = NULL;
    int r = begin(done, userdata, n ? 0 : -ENOENT, &q);

    (void)z;
    if (r == 0 && n) {
        (void)snprintf(q->data, sizeof(q->data), "%s", n->data);
        q->len = strlen(n->data);
    }
    return r;
}

int __wrap_sv_zk_children(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata)
{
    struct reply *q = NULL;
    int r = begin(done, userdata, find(path) ? 0 : -ENOENT, &q);

    (void)z;
    if (r == 0)
        q->n_children = children_of(path, q->children);
    return r;
}

int __wrap_sv_zk_remove(struct sv_zk *z, const char *path, int32_t version, sv_zk_done done,
                        void *userdata)
{
    struct node *n;
    int status = 0;

    (void)z;
    (void)version;
    about_to();
    n = find(path);
    if (!n)
        status = -ENOENT;
    else if (children_of(path, NULL) > 0)
        status = -ENOTEMPTY;
    else
        *n = nodes[--n_nodes];
    return begin(done, userdata, status, NULL);
}

static void answer_all(void)
{
    while (n_replies > 0) {
        struct reply q = replies[0];
        struct sv_zk_answer a = {
            .data = q.data, .len = q.len, .path = "", .children = q.children
        };

        a.n_children = q.n_children;
        memmove(replies, replies + 1, --n_replies * sizeof(*replies));
        q.done(q.status, &a, q.userdata);
        for (size_t i = 0; i < q.n_children; i++)
            free(q.children[i]);
    }
}

/* ---- The back end ---- */

static int open_backend(void **state)
{
    const struct reg_zookeeper_config cfg = { "127.0.0.1", "/registry", 1000 };

    (void)state;
    n_nodes = n_replies = n_requests = 0;
    connected = true;
    meddle = NULL;
    return reg_zookeeper_open(NULL, &cfg, &backend, NULL);
}

static int close_backend(void **state)
{
    (void)state;
    reg_backend_free(backend);
    return 0;
}

static void on_done(int status, const char *why, void *userdata)
{
    assert_true(status == 0 || *why);
    *(int *)userdata = status;
}

static int put(const char *path, const char *text)
{
    int status = 1;
    int r = backend->ops->put(backend, path, text, strlen(text), on_done, &status);

    if (r < 0)
        return r;
    answer_all();
    assert_int_not_equal(status, 1);
    return status;
}

static int removed(const char *path, bool tree)
{
    int status = 1;
    int r =
        (tree ? backend->ops->remove_tree : backend->ops->remove)(backend, path, on_done, &status);

    if (r < 0)
        return r;
    answer_all();
    assert_int_not_equal(status, 1);
    return status;
}

static void data(const char *path, const char *wanted)
{
    const struct node *n = find(path);

    if (wanted)
        assert_string_equal(n ? n->data : "none", wanted);
    else
        assert_null(n);
}

/* ---- Tests ---- */

static void folders_are_made(void **state)
{
    (void)state;
    assert_int_equal(put("/users/a/services", "1"), 0);
    data("/registry", "");
    data("/registry/users/a", "");
    data("/registry/users/a/services", "1");
    n_requests = 0;
    assert_int_equal(put("/users/a/other", "2"), 0);
    assert_int_equal(n_requests, 1); /* where its folder is there */
    assert_int_equal(put("/users/a/other", "3"), 0);
    data("/registry/users/a/other", "3");
    assert_int_equal(n_requests, 3); /* created before, set */
}

static unsigned meddled;

static void remove_it(void)
{
    struct node *n = find("/registry/users/a");

    meddled++;
    if (n && children_of(n->path, NULL) == 0)
        *n = nodes[--n_nodes];
}

/* Somebody removes the folder again and again: it ends. */
static void others_remove_it(void **state)
{
    (void)state;
    meddled = 0;
    meddle = remove_it;
    assert_int_equal(put("/users/a/services", "1"), -EAGAIN);
    assert_true(meddled < 1000);
}

static void removals(void **state)
{
    (void)state;
    assert_int_equal(put("/s", "1"), 0);
    assert_int_equal(put("/s/components/a", "2"), 0);
    assert_int_equal(removed("/s", false), -ENOTEMPTY);
    assert_int_equal(removed("/s/components/a", false), 0);
    assert_int_equal(removed("/s/components/a", false), 0);
    data("/registry/s/components/a", NULL);
    assert_int_equal(put("/s/components/a", "2"), 0);
    assert_int_equal(put("/s/components/b/c/d", "2"), 0);
    assert_int_equal(removed("/s", true), 0);
    data("/registry/s", NULL);
    data("/registry", "");
    assert_int_equal(n_nodes, 1);
    assert_int_equal(removed("/s", true), 0);
}

static void add_child(void)
{
    static unsigned n;
    char path[64];

    if (!find("/registry/s"))
        return;
    meddled++;
    (void)snprintf(path, sizeof(path), "/registry/s/new-%u", n++);
    if (n_nodes < NODES_MAX)
        add(path, "", 0);
}

/* Somebody makes children as fast as they are removed: it ends. */
static void others_fill_it(void **state)
{
    (void)state;
    assert_int_equal(put("/s", "1"), 0);
    meddled = 0;
    meddle = add_child;
    assert_int_equal(removed("/s", true), -ENOTEMPTY);
    assert_true(meddled < 10000);
}

static void on_listed(int status, char *const *names, size_t n, const char *why, void *userdata)
{
    char *to = userdata;

    (void)why;
    (void)snprintf(to, 64, "%d %zu %s", status, n, n > 0 ? names[0] : "");
}

static void on_got(int status, const void *bytes, size_t len, const char *why, void *userdata)
{
    (void)why;
    (void)snprintf(userdata, 64, "%d %.*s", status, (int)len, len ? (const char *)bytes : "");
}

static void reading(void **state)
{
    char text[64] = "";

    (void)state;
    assert_int_equal(put("/s/a", "1"), 0);
    assert_int_equal(backend->ops->list(backend, "/s", on_listed, text), 0);
    answer_all();
    assert_string_equal(text, "0 1 a");
    assert_int_equal(backend->ops->list(backend, "/none", on_listed, text), 0);
    answer_all();
    assert_string_equal(text, "0 0 ");
    assert_int_equal(backend->ops->get(backend, "/s/a", on_got, text), 0);
    answer_all();
    assert_string_equal(text, "0 1");
    assert_int_equal(backend->ops->get(backend, "/none", on_got, text), 0);
    answer_all();
    assert_string_equal(text, "-2 ");
}

static void on_ready(void *userdata)
{
    (*(unsigned *)userdata)++;
}

static void connection(void **state)
{
    unsigned ready = 0;

    (void)state;
    backend->ready = on_ready;
    backend->userdata = &ready;
    connected = false;
    assert_int_equal(put("/s", "1"), -ENOTCONN);
    assert_int_equal(removed("/s", true), -ENOTCONN);
    session.event(SV_ZK_EXPIRED, session.userdata);
    session.event(SV_ZK_DOWN, session.userdata);
    assert_int_equal(ready, 0);
    session.event(SV_ZK_UP, session.userdata);
    assert_int_equal(ready, 1);
}

static void not_a_path(void **state)
{
    char path[2000];

    (void)state;
    assert_int_equal(put("s", "1"), -EINVAL);
    memset(path, 'a', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(put(path, "1"), -EINVAL);
}

static void freed_with_open_requests(void **state)
{
    static int status;

    (void)state;
    assert_int_equal(backend->ops->put(backend, "/s/a", "1", 1, on_done, &status), 0);
    assert_int_equal(backend->ops->remove_tree(backend, "/s", on_done, &status), 0);
    assert_int_equal(backend->ops->list(backend, "/s", on_listed, NULL), 0);
    assert_int_equal(backend->ops->get(backend, "/s", on_got, NULL), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_backend, close_backend)
    const struct CMUnitTest tests[] = {
        T(folders_are_made), T(others_remove_it), T(removals),   T(others_fill_it),
        T(reading),          T(connection),       T(not_a_path), T(freed_with_open_requests),
    };
#undef T

    return cmocka_run_group_tests(tests, NULL, NULL);
}
