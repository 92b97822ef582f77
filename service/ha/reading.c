/* See reading.h. */
#include "service/ha/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/str.h"
#include "service/ha/nodes.h"

#define AT_ONCE 256

struct item {        /* a node that is to be read */
    char *path;      /* absolute */
    unsigned levels; /* of nodes below it; 0: it has a value */
    struct svc_ha_reading *r;
    struct item *prev, *next;
};
struct svc_ha_reading {
    struct sv_zk *zk;
    char *root;
    svc_ha_read_fn fn; /* NULL: given up */
    void *userdata;
    struct item *todo;
    unsigned open;
    int status;
    struct svc_ha_texts texts;
    struct svc_ha_tree tree;
};

void svc_ha_texts_free(struct svc_ha_texts *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->list[i].path);
        free(t->list[i].value);
    }
    free(t->list);
    *t = (struct svc_ha_texts){ 0 };
}

/* ---- The list ---- */

static void item_free(struct item *i)
{
    free(i->path);
    free(i);
}

static int add_item(struct svc_ha_reading *r, const char *above, const char *name, unsigned levels)
{
    struct item *i = calloc(1, sizeof(*i));

    if (!i || sv_asprintf(&i->path, "%s/%s", above, name) < 0) {
        free(i);
        return -ENOMEM;
    }
    i->levels = levels;
    i->r = r;
    DL_APPEND(r->todo, i);
    return 0;
}

static int keep(struct svc_ha_reading *r, const char *path, const struct sv_zk_answer *a)
{
    struct svc_ha_texts *t = &r->texts;
    struct svc_ha_text *new;

    t->bytes += strlen(path) + a->len;
    if (t->n == SVC_HA_NODES_MAX || t->bytes > SVC_HA_BYTES_MAX)
        return -E2BIG;
    if (t->n == t->max) {
        size_t max = t->max ? 2 * t->max : 64;
        struct svc_ha_text *more = realloc(t->list, max * sizeof(*more));

        if (!more)
            return -ENOMEM;
        t->list = more;
        t->max = max;
    }
    new = &t->list[t->n];
    *new = (struct svc_ha_text){ strdup(path + strlen(r->root) + 1), malloc(a->len + 1), a->len };
    if (!new->path || !new->value) {
        free(new->path);
        free(new->value);
        return -ENOMEM;
    }
    if (a->len)
        memcpy(new->value, a->data, a->len);
    new->value[a->len] = '\0';
    t->n++;
    return 0;
}

/* ---- Requests ---- */

static void end(struct svc_ha_reading *r)
{
    struct item *i, *tmp;

    if (r->fn)
        r->fn(r->status, &r->texts, &r->tree, r->userdata);
    DL_FOREACH_SAFE (r->todo, i, tmp)
        item_free(i);
    svc_ha_texts_free(&r->texts);
    svc_ha_tree_free(&r->tree);
    free(r->root);
    free(r);
}

static void on_answer(int status, const struct sv_zk_answer *a, void *userdata);

/* Sends more of the list; the last answer is the end. */
static void go_on(struct svc_ha_reading *r)
{
    while (r->fn && r->status == 0 && r->todo && r->open < AT_ONCE) {
        struct item *i = r->todo;

        r->status = i->levels ? sv_zk_children(r->zk, i->path, on_answer, i)
                              : sv_zk_get(r->zk, i->path, on_answer, i);
        if (r->status < 0)
            break;
        DL_DELETE(r->todo, i);
        r->open++;
    }
    if (r->open == 0)
        end(r);
}

static int take(struct svc_ha_reading *r, const struct item *i, const struct sv_zk_answer *a)
{
    int e = svc_ha_tree_add(&r->tree, i->path, strlen(i->path)) ? 0 : -ENOMEM;

    if (e == 0 && r->tree.n > SVC_HA_NODES_MAX)
        e = -E2BIG;
    if (e == 0 && i->levels == 0)
        return keep(r, i->path, a);
    for (size_t k = 0; e == 0 && k < a->n_children; k++)
        e = add_item(r, i->path, a->children[k], i->levels - 1);
    return e;
}

static void on_answer(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct item *i = userdata;
    struct svc_ha_reading *r = i->r;

    r->open--;
    if (r->fn && r->status == 0 && status != -ENOENT) /* a directory that was never made */
        r->status = status < 0 ? status : take(r, i, a);
    item_free(i);
    go_on(r);
}

/* The root is there, and all above it. */
static int add_root(struct svc_ha_reading *r)
{
    for (const char *at = r->root + 1; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (!svc_ha_tree_add(&r->tree, r->root, (size_t)(at - r->root) + strcspn(at, "/")))
            return -ENOMEM;
    }
    return 0;
}

int svc_ha_read(struct sv_zk *zk, const char *root, svc_ha_read_fn fn, void *userdata,
                struct svc_ha_reading **ret)
{
    struct svc_ha_reading *r = calloc(1, sizeof(*r));
    size_t n;
    const struct svc_ha_directory *d = svc_ha_directories(&n);
    int e = 0;

    if (!r)
        return -ENOMEM;
    r->zk = zk;
    r->userdata = userdata;
    r->root = strdup(root);
    for (size_t i = 0; e == 0 && r->root && i < n; i++)
        e = add_item(r, root, d[i].name, d[i].levels);
    if (!r->root || add_root(r) < 0)
        e = -ENOMEM;
    if (e == 0 && !sv_zk_connected(zk))
        e = -ENOTCONN;
    if (e < 0) {
        end(r);
        return e;
    }
    r->fn = fn;
    *ret = r;
    go_on(r);
    return 0;
}

void svc_ha_reading_give_up(struct svc_ha_reading *r)
{
    r->fn = NULL;
}
