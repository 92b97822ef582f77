/* See zookeeper.h. A request is a chain of ZooKeeper's: create, or set what is there, or make the
 * nodes above first; the removal of a tree asks for children where a node has some. Each chain ends
 * after a bounded number of steps, whatever others do to the nodes meanwhile. */
#include "registry/zookeeper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/zookeeper/zk.h"
#include "registry/path.h"
#include "registry/record.h"

#define PLACE_MAX SV_ZK_PATH_MAX
#define STEPS_MAX 64   /* of a chain that does not remove a tree */
#define ATTEMPTS_MAX 3 /* to empty one node */

struct zookeeper {
    struct reg_backend base;
    struct sv_zk *zk;
    char *where, *root;
};
struct node { /* of a tree that is removed */
    struct node *above;
    unsigned attempts;
    char path[];
};
struct chain {
    struct zookeeper *z;
    char path[PLACE_MAX + 1];
    char *text; /* to put */
    size_t len;
    size_t made; /* length of the folder above that was made last */
    unsigned steps;
    struct node *tree;
    size_t n_nodes; /* asked for so far */
    reg_done done;
    reg_listed listed;
    reg_got got;
    void *userdata;
};

/* ---- Chains ---- */

static const char *why_of(int status)
{
    switch (status) {
    case 0:
        return "";
    case -ENOTCONN:
        return "no connection to ZooKeeper";
    case -EACCES:
        return "the node's ACL does not admit it";
    default:
        return strerror(-status);
    }
}

static void free_chain(struct chain *c)
{
    struct node *above;

    for (; c->tree; c->tree = above) {
        above = c->tree->above;
        free(c->tree);
    }
    free(c->text);
    free(c);
}

static void end_chain(struct chain *c, int status)
{
    if (status == -ECANCELED) { /* by free_zookeeper() */
        free_chain(c);
        return;
    }
    if (c->done)
        c->done(status, why_of(status), c->userdata);
    if (c->listed)
        c->listed(status, NULL, 0, why_of(status), c->userdata);
    if (c->got)
        c->got(status, NULL, 0, why_of(status), c->userdata);
    free_chain(c);
}

/* The next request was not sent. */
static void go_on(struct chain *c, int status)
{
    if (status < 0)
        end_chain(c, status);
}

static int new_chain(struct reg_backend *b, const char *path, void *userdata, struct chain **ret)
{
    struct zookeeper *z = (struct zookeeper *)b;
    struct chain *c = calloc(1, sizeof(*c));
    int n;

    if (!c)
        return -ENOMEM;
    n = snprintf(c->path, sizeof(c->path), "%s%s", strcmp(z->root, "/") == 0 ? "" : z->root, path);
    if (*path != '/' || n < 0 || (size_t)n >= sizeof(c->path)) {
        free(c);
        return -EINVAL;
    }
    c->z = z;
    c->userdata = userdata;
    *ret = c;
    return 0;
}

/* The first request of a chain. */
static int begun(struct chain *c, int status)
{
    if (status < 0)
        free_chain(c);
    return status;
}

/* ---- put ---- */

static int create(struct chain *c);

static void on_set(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct chain *c = userdata;

    (void)a;
    if (status == -ENOENT && ++c->steps < STEPS_MAX) /* somebody has removed it */
        go_on(c, create(c));
    else
        end_chain(c, status == -ENOENT ? -EAGAIN : status);
}

/* Makes the next folder, from the root, or the record when all are there. */
static int make_next(struct chain *c);

static void on_made(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct chain *c = userdata;

    (void)a;
    if (status == 0 || status == -EEXIST)
        go_on(c, make_next(c));
    else
        end_chain(c, status == -ENOENT ? -EAGAIN : status);
}

static int make_next(struct chain *c)
{
    char folder[PLACE_MAX + 1];
    const char *slash = strchr(c->path + c->made + 1, '/');

    if (!slash)
        return create(c);
    if (++c->steps >= STEPS_MAX)
        return -EAGAIN;
    c->made = (size_t)(slash - c->path);
    (void)snprintf(folder, sizeof(folder), "%.*s", (int)c->made, c->path);
    return sv_zk_create(c->z->zk, folder, NULL, 0, SV_ZK_PERSISTENT, on_made, c);
}

static void on_created(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct chain *c = userdata;

    (void)a;
    if (status == -EEXIST) {
        go_on(c, sv_zk_set(c->z->zk, c->path, c->text, c->len, SV_ZK_ANY_VERSION, on_set, c));
    } else if (status == -ENOENT && ++c->steps < STEPS_MAX) {
        c->made = 0;
        go_on(c, make_next(c));
    } else {
        end_chain(c, status == -ENOENT ? -EAGAIN : status);
    }
}

static int create(struct chain *c)
{
    return sv_zk_create(c->z->zk, c->path, c->text, c->len, SV_ZK_PERSISTENT, on_created, c);
}

static int put(struct reg_backend *b, const char *path, const void *text, size_t len, reg_done done,
               void *userdata)
{
    struct chain *c = NULL;
    int r = new_chain(b, path, userdata, &c);

    if (r < 0)
        return r;
    c->done = done;
    c->text = malloc(len + 1);
    if (!c->text)
        return begun(c, -ENOMEM);
    memcpy(c->text, text, len);
    c->len = len;
    return begun(c, create(c));
}

/* ---- remove ---- */

static void on_removed(int status, const struct sv_zk_answer *a, void *userdata)
{
    (void)a;
    end_chain(userdata, status == -ENOENT ? 0 : status);
}

static int remove_one(struct reg_backend *b, const char *path, reg_done done, void *userdata)
{
    struct chain *c = NULL;
    int r = new_chain(b, path, userdata, &c);

    if (r < 0)
        return r;
    c->done = done;
    return begun(c, sv_zk_remove(c->z->zk, c->path, SV_ZK_ANY_VERSION, on_removed, c));
}

/* ---- remove_tree ---- */

static int push(struct chain *c, const char *folder, const char *name)
{
    size_t n = strlen(folder) + (name ? strlen(name) + 1 : 0);
    struct node *new;

    if (n > PLACE_MAX || c->n_nodes == REG_NAMES_MAX)
        return -E2BIG;
    new = calloc(1, sizeof(*new) + n + 1);
    if (!new)
        return -ENOMEM;
    (void)snprintf(new->path, n + 1, name ? "%s/%s" : "%s%s", folder, name ? name : "");
    new->above = c->tree;
    c->tree = new;
    c->n_nodes++;
    return 0;
}

static int cut_next(struct chain *c);

static void on_branches(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct chain *c = userdata;
    const char *folder = c->tree->path; /* nodes above it on the stack are its children */

    status = status == -ENOENT ? 0 : status;
    for (size_t i = 0; status == 0 && i < a->n_children; i++)
        status = push(c, folder, a->children[i]);
    if (status == 0)
        status = cut_next(c);
    go_on(c, status);
}

static void on_cut(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct chain *c = userdata;
    struct node *top = c->tree;

    (void)a;
    if (status == 0 || status == -ENOENT) {
        c->tree = top->above;
        free(top);
        if (c->tree)
            go_on(c, cut_next(c));
        else
            end_chain(c, 0);
    } else if (status == -ENOTEMPTY && top->attempts++ < ATTEMPTS_MAX) {
        go_on(c, sv_zk_children(c->z->zk, top->path, on_branches, c));
    } else {
        end_chain(c, status);
    }
}

static int cut_next(struct chain *c)
{
    return sv_zk_remove(c->z->zk, c->tree->path, SV_ZK_ANY_VERSION, on_cut, c);
}

static int remove_tree(struct reg_backend *b, const char *path, reg_done done, void *userdata)
{
    struct chain *c = NULL;
    int r = new_chain(b, path, userdata, &c);

    if (r < 0)
        return r;
    c->done = done;
    r = push(c, c->path, NULL);
    return begun(c, r < 0 ? r : cut_next(c));
}

/* ---- list, get ---- */

static void on_children(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct chain *c = userdata;
    reg_listed listed = c->listed;

    if (status == -ECANCELED) {
        end_chain(c, status);
        return;
    }
    if (status == -ENOENT)
        status = 0;
    if (a->n_children > REG_NAMES_MAX)
        status = -E2BIG;
    listed(status, a->children, status < 0 ? 0 : a->n_children, why_of(status), c->userdata);
    free_chain(c);
}

static int list(struct reg_backend *b, const char *path, reg_listed done, void *userdata)
{
    struct chain *c = NULL;
    int r = new_chain(b, path, userdata, &c);

    if (r < 0)
        return r;
    c->listed = done;
    return begun(c, sv_zk_children(c->z->zk, c->path, on_children, c));
}

static void on_got(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct chain *c = userdata;
    reg_got got = c->got;

    if (status == -ECANCELED) {
        end_chain(c, status);
        return;
    }
    if (status == 0 && a->len > REG_RECORD_MAX)
        status = -E2BIG;
    got(status, a->data, status < 0 ? 0 : a->len, why_of(status), c->userdata);
    free_chain(c);
}

static int get(struct reg_backend *b, const char *path, reg_got done, void *userdata)
{
    struct chain *c = NULL;
    int r = new_chain(b, path, userdata, &c);

    if (r < 0)
        return r;
    c->got = done;
    return begun(c, sv_zk_get(c->z->zk, c->path, on_got, c));
}

/* ---- Life ---- */

static void on_event(enum sv_zk_event event, void *userdata)
{
    struct zookeeper *z = userdata;

    if (event == SV_ZK_UP && z->base.ready)
        z->base.ready(z->base.userdata);
}

static void free_zookeeper(struct reg_backend *b)
{
    struct zookeeper *z = (struct zookeeper *)b;

    sv_zk_free(z->zk);
    free(z->where);
    free(z->root);
    free(z);
}

static const struct reg_backend_ops ops = {
    .name = "zookeeper",
    .put = put,
    .remove = remove_one,
    .remove_tree = remove_tree,
    .list = list,
    .get = get,
    .free = free_zookeeper,
};

int reg_zookeeper_open(sd_event *event, const struct reg_zookeeper_config *cfg,
                       struct reg_backend **ret, struct sv_error *err)
{
    struct zookeeper *z = calloc(1, sizeof(*z));
    const struct sv_zk_config of_zk = {
        .servers = cfg->servers, .session_ms = cfg->session_ms, .event = on_event, .userdata = z
    };
    int r = -ENOMEM;

    if (z && (z->root = strdup(cfg->root)))
        r = sv_asprintf(&z->where, "ZooKeeper %s%s", cfg->servers, cfg->root);
    r = r < 0 ? sv_error_errno(err, -ENOMEM, "registry") : sv_zk_new(event, &of_zk, &z->zk, err);
    if (r < 0) {
        if (z)
            free_zookeeper(&z->base);
        return r;
    }
    z->base = (struct reg_backend){ .ops = &ops, .where = z->where };
    *ret = &z->base;
    return 0;
}
