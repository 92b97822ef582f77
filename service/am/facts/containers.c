/* See containers.h. */
#include "service/am/facts/containers.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

static void free_container(struct svc_containers *of, struct svc_container *c)
{
    of->localized -= length(c->localized);
    free(c->http_address);
    free(c->instance);
    free(c->ip);
    free(c->host);
    free(c->localized);
    free(c);
}

struct svc_container *svc_containers_find(const struct svc_containers *c,
                                          struct yarn_container_id id)
{
    char key[YARN_ID_TEXT_MAX];
    struct svc_container *found;

    yarn_container_id_text(id, key);
    HASH_FIND_STR(c->table, key, found);
    return found;
}

struct svc_container *svc_containers_add(struct svc_containers *c, struct yarn_container_id id,
                                         const struct yarn_node_id *node,
                                         const struct yarn_resource *resource,
                                         const char *http_address)
{
    struct svc_container *new;

    if (c->n >= SVC_CONTAINERS_MAX || svc_containers_find(c, id))
        return NULL;
    new = calloc(1, sizeof(*new));
    if (!new)
        return NULL;
    new->http_address = strdup(http_address ? http_address : "");
    if (!new->http_address) {
        free(new);
        return NULL;
    }
    new->id = id;
    yarn_container_id_text(id, new->key);
    new->node = *node;
    new->resource = *resource;
    new->allocated_ms = sv_wall_ms();
    HASH_ADD_STR(c->table, key, new);
    c->n++;
    return new;
}

static int replace(char **text, const char *by)
{
    char *copy;

    if (!by || !*by || sv_streq(*text, by))
        return 0;
    copy = strdup(by);
    if (!copy)
        return -ENOMEM;
    free(*text);
    *text = copy;
    return 1;
}

int svc_container_name(struct svc_container *c, const char *instance)
{
    int r = replace(&c->instance, instance);

    return r < 0 ? r : 0;
}

int svc_container_address(struct svc_container *c, const char *ip, const char *host)
{
    int r = replace(&c->ip, ip), s = r < 0 ? 0 : replace(&c->host, host);

    return r < 0 ? r : s < 0 ? s : r | s;
}

void svc_containers_localized(struct svc_containers *c, struct svc_container *one, char *json)
{
    c->localized -= length(one->localized);
    free(one->localized);
    one->localized = NULL;
    if (length(json) > SVC_LOCALIZED_MAX - c->localized) {
        free(json);
        return;
    }
    one->localized = json;
    c->localized += length(json);
}

void svc_containers_remove(struct svc_containers *c, struct yarn_container_id id)
{
    struct svc_container *found = svc_containers_find(c, id);

    if (!found)
        return;
    HASH_DEL(c->table, found);
    c->n--;
    free_container(c, found);
}

/* ---- Containers that have ended ---- */

struct svc_container *svc_containers_ended(const struct svc_containers *c, const char *instance)
{
    struct svc_container *found;

    HASH_FIND_STR(c->ended, instance, found);
    return found;
}

void svc_containers_forget(struct svc_containers *c, const char *instance)
{
    struct svc_container *found = svc_containers_ended(c, instance);

    if (!found)
        return;
    HASH_DEL(c->ended, found);
    free_container(c, found);
}

static void forget_all(struct svc_containers *c)
{
    struct svc_container *i, *next;

    HASH_ITER (hh, c->ended, i, next) {
        HASH_DEL(c->ended, i);
        free_container(c, i);
    }
}

void svc_containers_end(struct svc_containers *c, struct yarn_container_id id, bool succeeded)
{
    struct svc_container *found = svc_containers_find(c, id);

    if (!found)
        return;
    HASH_DEL(c->table, found);
    c->n--;
    if (!found->instance || !found->started_ms) {
        free_container(c, found);
        return;
    }
    if (HASH_COUNT(c->ended) >= SVC_CONTAINERS_MAX) /* of instances that were removed, too */
        forget_all(c);
    svc_containers_forget(c, found->instance);
    found->succeeded = succeeded;
    HASH_ADD_KEYPTR(hh, c->ended, found->instance, strlen(found->instance), found);
}

void svc_containers_clear(struct svc_containers *c)
{
    struct svc_container *i, *next;

    forget_all(c);
    HASH_ITER (hh, c->table, i, next) {
        HASH_DEL(c->table, i);
        free_container(c, i);
    }
    c->n = 0;
}
