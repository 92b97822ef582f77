/* Requests of zk.h: the library's answers become one kind of callback. */
#include <errno.h>
#include <string.h>

#include "common/zookeeper/zk-internal.h"

#if SV_ZK_HEADERS

struct request {
    struct sv_zk *z;
    sv_zk_done done;
    void *userdata;
    zoo_op_result_t *results; /* of several operations: the library writes them */
};

static int status_of(int rc)
{
    static const struct {
        int rc, status;
    } table[] = {
        { ZOK, 0 },
        { ZNONODE, -ENOENT },
        { ZNODEEXISTS, -EEXIST },
        { ZNOTEMPTY, -ENOTEMPTY },
        { ZNOAUTH, -EACCES },
        { ZBADVERSION, -ESTALE },
        { ZNOCHILDRENFOREPHEMERALS, -ENOTDIR },
        { ZBADARGUMENTS, -EINVAL },
        { ZINVALIDACL, -EINVAL },
        { ZCONNECTIONLOSS, -ENOTCONN },
        { ZOPERATIONTIMEOUT, -ENOTCONN },
        { ZSESSIONEXPIRED, -ENOTCONN },
        { ZSESSIONMOVED, -ENOTCONN },
        { ZINVALIDSTATE, -ENOTCONN },
        { ZCLOSING, -ENOTCONN },
        { ZSYSTEMERROR, -ENOMEM },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(table); i++)
        if (table[i].rc == rc)
            return table[i].status;
    return -EIO;
}

static struct request *new_request(struct sv_zk *z, sv_zk_done done, void *userdata)
{
    struct request *q = z->up ? malloc(sizeof(*q)) : NULL;

    if (q)
        *q = (struct request){ z, done, userdata, NULL };
    return q;
}

static void free_request(struct request *q)
{
    free(q->results);
    free(q);
}

/* The library has taken the request, or refused it with `rc`. */
static int sent(struct request *q, int rc)
{
    if (rc != ZOK)
        free_request(q);
    else
        sv_zk_wake(q->z);
    return status_of(rc);
}

static int no_request(const struct sv_zk *z)
{
    return z->up ? -ENOMEM : -ENOTCONN;
}

static void answer(const void *data, int rc, const struct sv_zk_answer *a)
{
    struct request *q = (struct request *)(uintptr_t)data;

    q->done(q->z->closing ? -ECANCELED : status_of(rc), a, q->userdata);
    free_request(q);
}

static void on_created(int rc, const char *path, const void *data)
{
    answer(data, rc, &(struct sv_zk_answer){ .path = rc == ZOK && path ? path : "" });
}

static void on_set(int rc, const struct Stat *st, const void *data)
{
    answer(data, rc, &(struct sv_zk_answer){ .version = rc == ZOK && st ? st->version : 0 });
}

static void on_got(int rc, const char *value, int len, const struct Stat *st, const void *data)
{
    struct sv_zk_answer a = { .data = "" };

    if (rc == ZOK && st)
        a.version = st->version;
    if (rc == ZOK && value && len > 0) { /* -1: the node has no data */
        a.data = value;
        a.len = (size_t)len;
    }
    answer(data, rc, &a);
}

static void on_children(int rc, const struct String_vector *names, const void *data)
{
    struct sv_zk_answer a = { 0 };

    if (rc == ZOK && names && names->count > 0) {
        a.children = names->data;
        a.n_children = (size_t)names->count;
    }
    answer(data, rc, &a);
}

static void on_removed(int rc, const void *data)
{
    answer(data, rc, &(struct sv_zk_answer){ 0 });
}

static int check(const char *path, size_t len)
{
    size_t n = strlen(path);

    if (*path != '/' || n > SV_ZK_PATH_MAX || (n > 1 && path[n - 1] == '/'))
        return -EINVAL;
    return len > SV_ZK_DATA_MAX ? -E2BIG : 0;
}

static int list_of(const struct sv_zk_config *cfg, struct ACL to[SV_ZK_ACL_MAX],
                   struct ACL_vector *ret)
{
    static const struct sv_zk_acl anyone = { "world", "anyone", SV_ZK_ALL };
    const struct sv_zk_acl *acl = cfg->n_acl > 0 ? cfg->acl : &anyone;
    size_t n = cfg->n_acl > 0 ? cfg->n_acl : 1;

    if (n > SV_ZK_ACL_MAX)
        return -E2BIG;
    for (size_t i = 0; i < n; i++) {
        to[i].perms = acl[i].permissions;
        to[i].id.scheme = (char *)(uintptr_t)acl[i].scheme;
        to[i].id.id = (char *)(uintptr_t)acl[i].id;
    }
    *ret = (struct ACL_vector){ (int32_t)n, to };
    return 0;
}

int sv_zk_create(struct sv_zk *z, const char *path, const void *data, size_t len, unsigned mode,
                 sv_zk_done done, void *userdata)
{
    struct ACL list[SV_ZK_ACL_MAX];
    struct ACL_vector acl = { 0 };
    int r = check(path, len);
    struct request *q;

    if (r == 0)
        r = list_of(&z->cfg, list, &acl);
    if (r < 0)
        return r;
    q = new_request(z, done, userdata);
    return q ? sent(q, z->lib->zoo_acreate(z->handle, path, data ? data : "", (int)len, &acl,
                                           (int)mode, on_created, q))
             : no_request(z);
}

int sv_zk_set(struct sv_zk *z, const char *path, const void *data, size_t len, int32_t version,
              sv_zk_done done, void *userdata)
{
    int r = check(path, len);
    struct request *q;

    if (r < 0)
        return r;
    q = new_request(z, done, userdata);
    return q ? sent(q, z->lib->zoo_aset(z->handle, path, data ? data : "", (int)len, version,
                                        on_set, q))
             : no_request(z);
}

int sv_zk_get(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata)
{
    int r = check(path, 0);
    struct request *q;

    if (r < 0)
        return r;
    q = new_request(z, done, userdata);
    return q ? sent(q, z->lib->zoo_aget(z->handle, path, 0, on_got, q)) : no_request(z);
}

int sv_zk_children(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata)
{
    int r = check(path, 0);
    struct request *q;

    if (r < 0)
        return r;
    q = new_request(z, done, userdata);
    return q ? sent(q, z->lib->zoo_aget_children(z->handle, path, 0, on_children, q))
             : no_request(z);
}

int sv_zk_remove(struct sv_zk *z, const char *path, int32_t version, sv_zk_done done,
                 void *userdata)
{
    int r = check(path, 0);
    struct request *q;

    if (r < 0)
        return r;
    q = new_request(z, done, userdata);
    return q ? sent(q, z->lib->zoo_adelete(z->handle, path, version, on_removed, q))
             : no_request(z);
}

static void put_op(const struct sv_zk *z, zoo_op_t *to, const struct sv_zk_op *op,
                   const struct ACL_vector *acl)
{
    const char *data = op->data ? op->data : "";

    if (op->kind == SV_ZK_OP_CREATE)
        z->lib->zoo_create_op_init(to, op->path, data, (int)op->len, acl, (int)op->mode, NULL, 0);
    else if (op->kind == SV_ZK_OP_SET)
        z->lib->zoo_set_op_init(to, op->path, data, (int)op->len, op->version, NULL);
    else
        z->lib->zoo_delete_op_init(to, op->path, op->version);
}

int sv_zk_multi(struct sv_zk *z, const struct sv_zk_op *ops, size_t n, sv_zk_done done,
                void *userdata)
{
    _cleanup_free_ zoo_op_t *list = NULL;
    struct ACL entries[SV_ZK_ACL_MAX];
    struct ACL_vector acl = { 0 };
    int r = n == 0 || n > SV_ZK_OPS_MAX ? -EINVAL : list_of(&z->cfg, entries, &acl);
    size_t bytes = 0;
    struct request *q;

    for (size_t i = 0; r == 0 && i < n; i++) {
        r = check(ops[i].path, ops[i].len);
        bytes += strlen(ops[i].path) + ops[i].len;
    }
    if (r == 0 && bytes > SV_ZK_DATA_MAX)
        r = -E2BIG;
    if (r < 0)
        return r;
    q = new_request(z, done, userdata);
    if (!q)
        return no_request(z);
    list = calloc(n, sizeof(*list));
    q->results = calloc(n, sizeof(*q->results));
    if (!list || !q->results) {
        free_request(q);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        put_op(z, &list[i], &ops[i], &acl); /* the library writes the request at once */
    return sent(q, z->lib->zoo_amulti(z->handle, (int)n, list, q->results, on_removed, q));
}

#else

int sv_zk_create(struct sv_zk *z, const char *path, const void *data, size_t len, unsigned mode,
                 sv_zk_done done, void *userdata)
{
    (void)z, (void)path, (void)data, (void)len, (void)mode, (void)done, (void)userdata;
    return -ENOTCONN;
}

int sv_zk_set(struct sv_zk *z, const char *path, const void *data, size_t len, int32_t version,
              sv_zk_done done, void *userdata)
{
    (void)z, (void)path, (void)data, (void)len, (void)version, (void)done, (void)userdata;
    return -ENOTCONN;
}

int sv_zk_get(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata)
{
    (void)z, (void)path, (void)done, (void)userdata;
    return -ENOTCONN;
}

int sv_zk_children(struct sv_zk *z, const char *path, sv_zk_done done, void *userdata)
{
    (void)z, (void)path, (void)done, (void)userdata;
    return -ENOTCONN;
}

int sv_zk_remove(struct sv_zk *z, const char *path, int32_t version, sv_zk_done done,
                 void *userdata)
{
    (void)z, (void)path, (void)version, (void)done, (void)userdata;
    return -ENOTCONN;
}

int sv_zk_multi(struct sv_zk *z, const struct sv_zk_op *ops, size_t n, sv_zk_done done,
                void *userdata)
{
    (void)z, (void)ops, (void)n, (void)done, (void)userdata;
    return -ENOTCONN;
}

#endif
