/* The containers of an ApplicationMaster: held, released, and for a while ended ones, so that a
 * repeated completion is known as such. Messages come from the ResourceManager, which is trusted;
 * an unusable one is skipped. */
#include <errno.h>
#include <string.h>

#include "client/lib/am-internal.h"

/* ---- Tables ---- */

static struct am_container_key key_of(struct yarn_container_id id)
{
    return (struct am_container_key){ .cluster_ts = id.attempt.app.cluster_ts,
                                      .app = id.attempt.app.id,
                                      .attempt = id.attempt.attempt,
                                      .id = id.id };
}

static struct am_container *find_any(struct cli_am *am, struct am_container_key key)
{
    struct am_container *c;

    HASH_FIND(hh, am->containers, &key, sizeof(key), c);
    return c;
}

static struct am_ended *find_ended(struct cli_am *am, struct am_container_key key)
{
    struct am_ended *e;

    HASH_FIND(hh, am->ended_by_key, &key, sizeof(key), e);
    return e;
}

struct am_container *cli_am_find(struct cli_am *am, struct yarn_container_id id)
{
    struct am_container *c = find_any(am, key_of(id));

    return c && !c->released ? c : NULL;
}

const struct cli_allocation *cli_am_container(struct cli_am *am, struct yarn_container_id id)
{
    const struct am_container *c = cli_am_find(am, id);

    return c ? &c->allocation : NULL;
}

static void free_block(struct am_container *c)
{
    if (c->token.password)
        explicit_bzero((void *)(uintptr_t)c->token.password, c->token.password_len);
    free(c->block);
    c->block = NULL;
    c->token = (struct yarn_token){ 0 };
    c->allocation.http_address = "";
    c->allocation.tags = NULL;
    c->allocation.n_tags = 0;
}

static void unlink_update(struct cli_am *am, struct am_container *c)
{
    if (c->update == UPDATE_WANTED)
        DL_DELETE(am->wanted_updates, c);
    c->update = NO_UPDATE;
}

static void forget(struct cli_am *am, struct am_container *c)
{
    unlink_update(am, c);
    if (c->releasing)
        DL_DELETE(am->releases, c);
    HASH_DEL(am->containers, c);
    free_block(c);
    free(c);
}

static void forget_oldest(struct cli_am *am)
{
    struct am_ended *e = am->ended;

    DL_DELETE(am->ended, e);
    HASH_DEL(am->ended_by_key, e);
    free(e);
    am->n_ended--;
}

void cli_am_containers_free(struct cli_am *am)
{
    struct am_container *c, *tmp;

    HASH_ITER (hh, am->containers, c, tmp)
        forget(am, c);
    while (am->ended)
        forget_oldest(am);
}

/* ---- Allocation ---- */

static size_t text_size(const char *s)
{
    return s ? strlen(s) + 1 : 1;
}

static const char *put_text(char **at, const char *s)
{
    char *start = *at;
    size_t n = text_size(s);

    memcpy(start, s ? s : "", n);
    *at += n;
    return start;
}

static const uint8_t *put_bytes(char **at, const uint8_t *p, size_t n)
{
    char *start = *at;

    if (n)
        memcpy(start, p, n);
    *at += n;
    return (const uint8_t *)start;
}

/* Copies what the container keeps of the message into one block. */
static int copy_texts(struct am_container *c, const Hadoop__Yarn__ContainerProto *m,
                      const struct yarn_token *t)
{
    size_t n = m->n_allocation_tags * sizeof(char *) + t->id_len + t->password_len +
               text_size(t->kind) + text_size(t->service) + text_size(m->node_http_address);
    const char **tags;
    void *block;
    char *at;

    for (size_t i = 0; i < m->n_allocation_tags; i++)
        n += text_size(m->allocation_tags[i]);
    block = malloc(n);
    if (!block)
        return -ENOMEM;
    free_block(c);
    c->block = block;
    tags = block;
    at = (char *)(tags + m->n_allocation_tags);
    for (size_t i = 0; i < m->n_allocation_tags; i++)
        tags[i] = put_text(&at, m->allocation_tags[i]);
    c->allocation.tags = tags;
    c->allocation.n_tags = m->n_allocation_tags;
    c->allocation.http_address = put_text(&at, m->node_http_address);
    c->token = (struct yarn_token){ .id_len = t->id_len, .password_len = t->password_len };
    c->token.id = put_bytes(&at, t->id, t->id_len);
    c->token.password = put_bytes(&at, t->password, t->password_len);
    c->token.kind = put_text(&at, t->kind);
    c->token.service = put_text(&at, t->service);
    return 0;
}

static int fill(struct am_container *c, const Hadoop__Yarn__ContainerProto *m, bool with_token)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(1 << 20);
    struct yarn_token token = { 0 };
    struct yarn_resource resource;
    struct yarn_node_id node;
    int r = a ? 0 : -ENOMEM;

    if (r >= 0)
        r = yarn_node_id_from(m->nodeid, &node);
    if (r >= 0)
        r = yarn_resource_from(m->resource, &resource);
    if (r >= 0 && m->container_token)
        r = yarn_token_from(m->container_token, a, &token);
    else if (r >= 0 && with_token)
        r = -EBADMSG;
    if (r >= 0)
        r = copy_texts(c, m, &token);
    if (r < 0)
        return r;
    c->allocation.node = node;
    c->allocation.resource = resource;
    c->allocation.priority = m->priority ? m->priority->priority : 0;
    c->allocation.request_id = m->allocation_request_id;
    c->allocation.execution = (enum cli_execution)m->execution_type;
    c->allocation.version = m->version;
    return 0;
}

int cli_am_hold(struct cli_am *am, const Hadoop__Yarn__ContainerProto *m, bool with_token,
                struct am_container **ret)
{
    struct yarn_container_id id;
    struct am_container *c;
    int r = yarn_container_id_from(m->id, &id);

    if (r < 0)
        return r;
    if (find_any(am, key_of(id)) || find_ended(am, key_of(id)))
        return -EEXIST;
    c = calloc(1, sizeof(*c));
    if (!c)
        return -ENOMEM;
    c->key = key_of(id);
    c->allocation.id = id;
    r = fill(c, m, with_token);
    if (r < 0) {
        free(c);
        return r;
    }
    HASH_ADD(hh, am->containers, key, sizeof(c->key), c);
    *ret = c;
    return 0;
}

int cli_am_renew(struct am_container *c, const Hadoop__Yarn__ContainerProto *m)
{
    return fill(c, m, true);
}

/* ---- End ---- */

bool cli_am_end(struct cli_am *am, struct yarn_container_id id)
{
    const struct am_container_key key = key_of(id);
    struct am_container *c = find_any(am, key);
    struct am_ended *e = find_ended(am, key);
    bool told = c && !c->released;

    if (!c && !e) /* of an earlier attempt, or never allocated */
        told = am->ops.recovered && id.attempt.attempt < am->attempt.attempt;
    if (!c && !told) { /* unknown, or repeated */
        am->repeated += e && !e->released;
        return false;
    }
    if (c)
        forget(am, c);
    e = calloc(1, sizeof(*e));
    if (!e)
        return told; /* a repetition would be unknown, and ignored as well */
    e->key = key;
    e->released = !told;
    HASH_ADD(hh, am->ended_by_key, key, sizeof(e->key), e);
    DL_APPEND(am->ended, e);
    if (++am->n_ended > AM_ENDED_MAX)
        forget_oldest(am);
    return told;
}

/* ---- Release ---- */

static void release(struct cli_am *am, struct am_container *c)
{
    if (!c->releasing)
        DL_APPEND(am->releases, c);
    c->releasing = true;
}

int cli_am_release(struct cli_am *am, struct yarn_container_id id)
{
    struct am_container *c = cli_am_find(am, id);

    if (!c)
        return -ENOENT;
    unlink_update(am, c);
    c->released = true;
    free_block(c);
    release(am, c);
    cli_am_wake_soon(am);
    return 0;
}

int cli_am_add_releases(struct cli_am *am, struct sv_arena *a,
                        Hadoop__Yarn__AllocateRequestProto *m)
{
    struct am_container *c;
    size_t n = 0;

    DL_COUNT(am->releases, c, n);
    m->release = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, n + 1);
    if (!m->release)
        return -ENOMEM;
    DL_FOREACH (am->releases, c) {
        m->release[m->n_release] = yarn_container_id_to(a, c->allocation.id);
        if (!m->release[m->n_release++])
            return -ENOMEM;
    }
    return 0;
}

void cli_am_releases_taken(struct cli_am *am)
{
    struct am_container *c, *tmp;

    DL_FOREACH_SAFE (am->releases, c, tmp) {
        DL_DELETE(am->releases, c);
        c->releasing = false;
    }
}

void cli_am_containers_again(struct cli_am *am)
{
    struct am_container *c, *tmp;

    HASH_ITER (hh, am->containers, c, tmp) {
        if (c->released)
            release(am, c);
        else if (c->update == UPDATE_SENT) {
            DL_APPEND(am->wanted_updates, c);
            c->update = UPDATE_WANTED;
        }
    }
}
