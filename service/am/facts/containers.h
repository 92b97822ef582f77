/* Facts about each container that the engine does not keep: the name of its instance, its
 * addresses, times, resource and files. A table by container id, and one by instance of those that
 * have ended; texts are copied. */
#ifndef SELVEDGE_SERVICE_AM_FACTS_CONTAINERS_H
#define SELVEDGE_SERVICE_AM_FACTS_CONTAINERS_H

#include <uthash.h>

#include "common/base.h"
#include "wire/ids.h"

#define SVC_CONTAINERS_MAX 200000            /* of one master, at a time */
#define SVC_LOCALIZED_MAX ((size_t)32 << 20) /* bytes of states of files, of all of them */

struct svc_container {
    struct yarn_container_id id;
    char key[YARN_ID_TEXT_MAX];
    struct yarn_node_id node;
    struct yarn_resource resource;
    char *http_address; /* of its node, "host:port" */
    char *instance;     /* NULL: none was assigned yet */
    char *ip, *host;    /* the container's own, as its node told; NULL: not known yet */
    int64_t allocated_ms, started_ms; /* wall clock; 0: not yet */
    bool launching;                   /* its start is being prepared */
    unsigned upgrade;    /* number of the upgrade to whose version it was turned; 0: none */
    bool turning;        /* to that version or back, and its node has not confirmed it */
    bool succeeded;      /* of one that has ended */
    char *localized;     /* JSON of the states of its files; NULL: not known */
    bool localized_open; /* its node was asked for these */
    unsigned localizing; /* times left that its node is asked for these */
    UT_hash_handle hh;
};

struct svc_containers {
    struct svc_container *table;
    size_t n;
    struct svc_container *ended; /* the last one of an instance that has none */
    size_t localized;            /* bytes of states of files */
};

/* NULL: no memory, too many, or the id is there already. */
struct svc_container *svc_containers_add(struct svc_containers *c, struct yarn_container_id id,
                                         const struct yarn_node_id *node,
                                         const struct yarn_resource *resource,
                                         const char *http_address);
struct svc_container *svc_containers_find(const struct svc_containers *c,
                                          struct yarn_container_id id);
int svc_container_name(struct svc_container *c, const char *instance) _must_use_;
/* Address and name of the container; unchanged where NULL or "". 1: they differ from before. */
int svc_container_address(struct svc_container *c, const char *ip, const char *host) _must_use_;
/* Takes the text, which is malloc'd; NULL: none. Beyond SVC_LOCALIZED_MAX it is dropped. */
void svc_containers_localized(struct svc_containers *c, struct svc_container *one, char *json);
void svc_containers_remove(struct svc_containers *c, struct yarn_container_id id);
/* The container has ended, and is kept for its instance until that has another one. */
void svc_containers_end(struct svc_containers *c, struct yarn_container_id id, bool succeeded);
/* NULL: none is kept for the instance. */
struct svc_container *svc_containers_ended(const struct svc_containers *c, const char *instance);
void svc_containers_forget(struct svc_containers *c, const char *instance);
void svc_containers_clear(struct svc_containers *c);

#endif
