/* See containers.h. */
#include "service/am/containers.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"

static void free_container(struct svc_container *c)
{
    free(c->http_address);
    free(c->instance);
    free(c->ip);
    free(c->host);
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

void svc_containers_remove(struct svc_containers *c, struct yarn_container_id id)
{
    struct svc_container *found = svc_containers_find(c, id);

    if (!found)
        return;
    HASH_DEL(c->table, found);
    c->n--;
    free_container(found);
}

void svc_containers_clear(struct svc_containers *c)
{
    struct svc_container *i, *next;

    HASH_ITER (hh, c->table, i, next) {
        HASH_DEL(c->table, i);
        free_container(i);
    }
    c->n = 0;
}
