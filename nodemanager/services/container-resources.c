/* See container-resources.h. */
#include "nodemanager/services/container-resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/buf.h"
#include "nodemanager/core/container.h"

void nm_resources_drop(struct nm_container *c, struct nm_localizing *z)
{
    DL_DELETE(c->localizing, z);
    for (unsigned i = 0; i < z->n; i++) {
        free(z->keys[i]);
        free(z->paths[i]);
    }
    free(z->keys);
    free(z->paths);
    free(z->failed);
    free(z);
}

int nm_resources_add(struct nm_container *c, unsigned part, enum nm_resources_role role,
                     nm_resource_rows rows, size_t n, struct nm_localizing **ret)
{
    struct nm_localizing *z = calloc(1, sizeof(*z));

    if (!z)
        return -ENOMEM;
    z->part = part;
    z->role = role;
    DL_APPEND(c->localizing, z);
    z->keys = calloc(n + 1, sizeof(char *));
    z->paths = calloc(n + 1, sizeof(char *));
    for (; z->keys && z->paths && z->n < n; z->n++) {
        z->keys[z->n] = strdup(rows[z->n]->key ? rows[z->n]->key : "");
        if (!z->keys[z->n])
            break;
    }
    if (!z->keys || !z->paths || z->n < n) {
        nm_resources_drop(c, z);
        return -ENOMEM;
    }
    *ret = z;
    return 0;
}

struct nm_localizing *nm_resources_find(const struct nm_container *c, unsigned part)
{
    struct nm_localizing *z;

    DL_SEARCH_SCALAR(c->localizing, z, part, part);
    return z;
}

struct nm_localizing *nm_resources_of(const struct nm_container *c, enum nm_resources_role role)
{
    struct nm_localizing *z;

    DL_SEARCH_SCALAR(c->localizing, z, role, role);
    return z;
}

bool nm_resources_pending(const struct nm_container *c)
{
    const struct nm_localizing *z;

    DL_FOREACH (c->localizing, z)
        if (z->late && !z->ready && !z->failed)
            return true;
    return false;
}

bool nm_resources_to_come(const struct nm_container *c)
{
    const struct nm_localizing *z;

    DL_FOREACH (c->localizing, z)
        if (z->role == NM_RESOURCES_CURRENT && !z->late && !z->ready && !z->failed)
            return true;
    return false;
}

/* True for a part of which a launch makes links. */
static bool is_launched(const struct nm_localizing *z)
{
    return z->role == NM_RESOURCES_CURRENT && (!z->late || z->ready);
}

int nm_resources_links(const struct nm_container *c, struct sv_arena *a, struct exe_link **ret,
                       size_t *ret_n)
{
    struct nm_localizing *z;
    struct exe_link *links;
    size_t n = 0;

    *ret = NULL;
    *ret_n = 0;
    if (!nm_resources_of(c, NM_RESOURCES_CURRENT)) /* none, or the cache has lost them */
        return c->clc && c->clc->n_localresources ? -ENOENT : 0;
    DL_FOREACH (c->localizing, z)
        n += is_launched(z) ? z->n : 0;
    links = sv_newn(a, struct exe_link, n + 1);
    if (!links)
        return -ENOMEM;
    DL_FOREACH (c->localizing, z) {
        if (!is_launched(z))
            continue;
        z->linked = true;
        for (unsigned i = 0; i < z->n; i++) {
            if (!z->paths[i])
                return -ENOENT;
            links[*ret_n].target = z->paths[i];
            links[(*ret_n)++].name = z->keys[i];
        }
    }
    *ret = links;
    return 0;
}

static bool is_unlinked(const struct nm_localizing *z)
{
    return z->role == NM_RESOURCES_CURRENT && z->late && z->ready && !z->linked;
}

int nm_resources_unlinked(struct nm_container *c, size_t max, char **ret, size_t *ret_len)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(max);
    struct nm_localizing *z;
    int r = 0;

    DL_FOREACH (c->localizing, z) {
        size_t before = b.len;

        if (!is_unlinked(z))
            continue;
        for (unsigned i = 0; i < z->n && r >= 0; i++) {
            r = sv_buf_put(&b, z->keys[i], strlen(z->keys[i]) + 1);
            if (r >= 0)
                r = sv_buf_put(&b, z->paths[i], strlen(z->paths[i]) + 1);
        }
        if (r == -EMSGSIZE && before > 0) { /* the rest comes after these */
            b.len = before;
            r = 0;
            break;
        }
        if (r < 0)
            return r;
        z->linked = true;
    }
    *ret_len = b.len;
    *ret = b.len ? malloc(b.len) : NULL;
    if (*ret)
        memcpy(*ret, b.data, b.len);
    return b.len && !*ret ? -ENOMEM : 0;
}

const char *nm_resources_counters(const struct nm_container *c, struct sv_arena *a)
{
    static const struct loc_counters none;
    const struct nm_localizing *z = nm_resources_of(c, NM_RESOURCES_CURRENT);
    const struct loc_counters *k = z ? &z->counters : &none;

    return sv_arena_printf(a, "%llu,%llu,%u,%u,%lld", (unsigned long long)k->bytes_missed,
                           (unsigned long long)k->bytes_cached, k->files_missed, k->files_cached,
                           (long long)k->millis);
}

static Hadoop__Yarn__LocalizationStatusProto *status_of(const struct nm_localizing *z, unsigned i,
                                                        struct sv_arena *a)
{
    Hadoop__Yarn__LocalizationStatusProto *s = sv_new(a, Hadoop__Yarn__LocalizationStatusProto);

    if (!s)
        return NULL;
    hadoop__yarn__localization_status_proto__init(s);
    s->resource_key = sv_arena_strdup(a, z->keys[i]);
    s->has_localization_state = true;
    s->localization_state = z->paths[i] ? HADOOP__YARN__LOCALIZATION_STATE_PROTO__L_COMPLETED
                            : z->failed ? HADOOP__YARN__LOCALIZATION_STATE_PROTO__L_FAILED
                                        : HADOOP__YARN__LOCALIZATION_STATE_PROTO__L_PENDING;
    if (!z->paths[i] && z->failed)
        s->diagnostics = sv_arena_strdup(a, z->failed);
    return s->resource_key ? s : NULL;
}

Hadoop__Yarn__ContainerLocalizationStatusesProto *nm_resources_status(const struct nm_container *c,
                                                                      struct sv_arena *a)
{
    Hadoop__Yarn__ContainerLocalizationStatusesProto *m =
        sv_new(a, Hadoop__Yarn__ContainerLocalizationStatusesProto);
    const struct nm_localizing *z;
    size_t n = 0;

    if (!m)
        return NULL;
    hadoop__yarn__container_localization_statuses_proto__init(m);
    m->container_id = yarn_container_id_to(a, c->id);
    DL_FOREACH (c->localizing, z)
        n += z->n;
    m->localization_statuses = sv_newn(a, Hadoop__Yarn__LocalizationStatusProto *, n + 1);
    if (!m->container_id || !m->localization_statuses)
        return NULL;
    DL_FOREACH (c->localizing, z)
        for (unsigned i = 0; z->role == NM_RESOURCES_CURRENT && i < z->n; i++) {
            Hadoop__Yarn__LocalizationStatusProto *s = status_of(z, i, a);

            if (!s)
                return NULL;
            m->localization_statuses[m->n_localization_statuses++] = s;
        }
    return m;
}
