/* See writer.h. */
#include "service/ha/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/str.h"

/* One request: below SV_ZK_DATA_MAX with what one owner's changes have at most, and below
 * SV_ZK_OPS_MAX with a node's three directories each. */
#define BYTES ((size_t)640 << 10)
#define CHANGES 200
#define NODE_TEXT 128

struct ask { /* a request on its way, which outlives a writer that is freed */
    struct svc_ha_writer *w;
};

struct svc_ha_writer {
    struct svc_ha_writer_config cfg;
    char *fence, *id;
    struct svc_ha_tree tree;
    struct svc_ha_batch now, next; /* what is being written, what comes after it */
    struct svc_ha_change *changes; /* of the request that is sent, or is to be sent again */
    struct sv_zk_op ops[SV_ZK_OPS_MAX];
    size_t n_ops;
    char text[NODE_TEXT]; /* of the fencing node */
    struct ask *ask;
    bool unsure; /* its answer was lost */
    bool again;  /* it is sent again: the one before may still be done, or was */
    bool failed;
    uint64_t requests, kept, shown;
};

static void pump(struct svc_ha_writer *w);

static void fail(struct svc_ha_writer *w, int status)
{
    if (w->failed)
        return;
    w->failed = true;
    w->cfg.failed(status, w->cfg.userdata);
}

/* ---- Requests ---- */

static bool add_op(struct svc_ha_writer *w, enum sv_zk_kind kind, const char *path,
                   const struct svc_ha_change *c)
{
    if (w->n_ops == SV_ZK_OPS_MAX)
        return false;
    w->ops[w->n_ops++] = (struct sv_zk_op){ .kind = kind,
                                            .path = path,
                                            .data = c ? c->value : NULL,
                                            .len = c ? c->len : 0,
                                            .version = SV_ZK_ANY_VERSION };
    return true;
}

/* The directories of a node that is new. */
static int add_above(struct svc_ha_writer *w, const char *path)
{
    for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        size_t len = (size_t)(at - path);
        struct svc_ha_node *n = svc_ha_tree_find(&w->tree, path, len);

        if (n)
            continue;
        n = svc_ha_tree_add(&w->tree, path, len);
        if (!n)
            return -ENOMEM;
        if (!add_op(w, SV_ZK_OP_CREATE, n->path, NULL))
            return -E2BIG;
    }
    return 0;
}

static int add_change(struct svc_ha_writer *w, const struct svc_ha_change *c)
{
    struct svc_ha_node *n = svc_ha_tree_find(&w->tree, c->path, strlen(c->path));
    int r;

    if (!c->value) {
        if (!n || n->children)
            return 0;
        svc_ha_tree_remove(&w->tree, n);
        return add_op(w, SV_ZK_OP_REMOVE, c->path, NULL) ? 0 : -E2BIG;
    }
    if (n)
        return add_op(w, SV_ZK_OP_SET, c->path, c) ? 0 : -E2BIG;
    r = add_above(w, c->path);
    if (r == 0 && !svc_ha_tree_add(&w->tree, c->path, strlen(c->path)))
        r = -ENOMEM;
    if (r == 0 && !add_op(w, SV_ZK_OP_CREATE, c->path, c))
        r = -E2BIG;
    return r;
}

/* The first operation is the fencing node's. */
static int make_request(struct svc_ha_writer *w)
{
    struct svc_ha_change *c;
    int r = 0;

    (void)snprintf(w->text, sizeof(w->text), "%s %llu", w->id, (unsigned long long)++w->requests);
    w->ops[0] = (struct sv_zk_op){
        .kind = SV_ZK_OP_SET, .path = w->fence, .data = w->text, .len = strlen(w->text)
    };
    w->n_ops = 1;
    w->changes = svc_ha_batch_cut(&w->now, BYTES, CHANGES);
    DL_FOREACH (w->changes, c)
        if (r == 0)
            r = add_change(w, c);
    if (svc_ha_batch_is_empty(&w->now))
        w->shown = w->now.ticket;
    return r;
}

static struct svc_ha_writer *end_of(struct ask *a)
{
    struct svc_ha_writer *w = a->w;

    free(a);
    if (w)
        w->ask = NULL;
    return w;
}

static int begin_ask(struct svc_ha_writer *w)
{
    w->ask = malloc(sizeof(*w->ask));
    if (!w->ask)
        return -ENOMEM;
    w->ask->w = w;
    return 0;
}

/* It was not taken, and no callback runs. */
static void not_sent(struct svc_ha_writer *w, int r)
{
    free(w->ask);
    w->ask = NULL;
    if (r != -ENOTCONN) /* else it comes when there is a connection */
        fail(w, r);
}

static void written(struct svc_ha_writer *w)
{
    w->cfg.version++;
    w->again = false;
    svc_ha_changes_free(w->changes);
    w->changes = NULL;
    if (svc_ha_batch_is_empty(&w->now) && w->now.ticket > w->kept) {
        w->kept = w->now.ticket;
        w->cfg.kept(w->cfg.userdata);
    }
    pump(w);
}

static void on_written(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct svc_ha_writer *w = end_of(userdata);

    (void)a;
    if (!w || w->failed)
        return;
    if (status == 0) {
        written(w);
    } else if (status == -ENOTCONN || status == -ECANCELED) {
        w->unsure = true; /* until there is a connection again */
        pump(w);
    } else if (status == -ESTALE && w->again) {
        w->again = false;
        w->unsure = true; /* another server of ZooKeeper's was behind when it was asked */
        pump(w);
    } else {
        fail(w, status);
    }
}

/* ---- After a lost answer ---- */

static void on_fence(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct svc_ha_writer *w = end_of(userdata);
    size_t n;

    if (!w || w->failed || status == -ENOTCONN || status == -ECANCELED)
        return; /* the request is repeated on the next connection */
    n = strlen(w->id);
    if (status == 0 && (a->len < n + 1 || memcmp(a->data, w->id, n) != 0))
        status = -ESTALE;
    if (status == 0 && a->version != w->cfg.version && a->version != w->cfg.version + 1)
        status = -ESTALE;
    if (status < 0) {
        fail(w, status);
        return;
    }
    w->unsure = false;
    w->again = a->version == w->cfg.version;
    if (w->again)
        pump(w);
    else
        written(w);
}

static void look(struct svc_ha_writer *w)
{
    int r = begin_ask(w);

    if (r == 0)
        r = sv_zk_get(w->cfg.zk, w->fence, on_fence, w->ask);
    if (r < 0)
        not_sent(w, r);
}

/* ---- The next one ---- */

/* Commits that changed nothing, behind those that are written now. */
static void keep_empty(struct svc_ha_writer *w)
{
    if (w->next.ticket <= w->kept)
        return;
    w->kept = w->shown = w->next.ticket;
    w->cfg.kept(w->cfg.userdata);
}

static bool fill(struct svc_ha_writer *w)
{
    int r;

    if (w->changes)
        return true;
    if (svc_ha_batch_is_empty(&w->now)) {
        if (svc_ha_batch_is_empty(&w->next)) {
            keep_empty(w);
            return false;
        }
        w->now = w->next;
        w->next = (struct svc_ha_batch){ .ticket = w->now.ticket };
    }
    r = make_request(w);
    if (r < 0)
        fail(w, r);
    return r == 0;
}

static void pump(struct svc_ha_writer *w)
{
    int r;

    if (w->ask || w->failed || !sv_zk_connected(w->cfg.zk))
        return;
    if (w->unsure) {
        look(w);
        return;
    }
    if (!fill(w))
        return;
    w->ops[0].version = w->cfg.version;
    r = begin_ask(w);
    if (r == 0)
        r = sv_zk_multi(w->cfg.zk, w->ops, w->n_ops, on_written, w->ask);
    if (r < 0)
        not_sent(w, r);
}

void svc_ha_writer_go_on(struct svc_ha_writer *w)
{
    pump(w);
}

/* ---- Commits ---- */

int svc_ha_writer_commit(struct svc_ha_writer *w, struct svc_ha_batch *changes, uint64_t ticket)
{
    int r = w->failed ? -EIO : svc_ha_batch_move(&w->next, changes);

    w->failed |= r < 0; /* a part of a commit is not written */
    if (r < 0)
        return r;
    w->next.ticket = ticket;
    if (!w->changes && svc_ha_batch_is_empty(&w->now) && svc_ha_batch_is_empty(&w->next))
        w->kept = w->shown = ticket; /* the caller need not wait */
    pump(w);
    return w->failed ? -EIO : 0;
}

void svc_ha_writer_stop(struct svc_ha_writer *w)
{
    w->failed = true;
}

uint64_t svc_ha_writer_kept(const struct svc_ha_writer *w)
{
    return w->kept;
}

uint64_t svc_ha_writer_shown(const struct svc_ha_writer *w)
{
    return w->shown;
}

const struct svc_ha_tree *svc_ha_writer_tree(const struct svc_ha_writer *w)
{
    return &w->tree;
}

/* ---- Life ---- */

int svc_ha_writer_new(const struct svc_ha_writer_config *cfg, struct svc_ha_writer **ret)
{
    struct svc_ha_writer *w = calloc(1, sizeof(*w));

    if (!w)
        return -ENOMEM;
    w->cfg = *cfg;
    w->fence = strdup(cfg->fence);
    w->id = strdup(cfg->id);
    if (!w->fence || !w->id) {
        (void)svc_ha_writer_free(w); /* NULL */
        return -ENOMEM;
    }
    w->cfg.fence = w->cfg.id = NULL;
    w->tree = *cfg->tree;
    *cfg->tree = (struct svc_ha_tree){ 0 };
    *ret = w;
    return 0;
}

struct svc_ha_writer *svc_ha_writer_free(struct svc_ha_writer *w)
{
    if (!w)
        return NULL;
    if (w->ask)
        w->ask->w = NULL;
    svc_ha_changes_free(w->changes);
    svc_ha_batch_free(&w->now);
    svc_ha_batch_free(&w->next);
    svc_ha_tree_free(&w->tree);
    free(w->fence);
    free(w->id);
    free(w);
    return NULL;
}
