/* Tells containers of other instances: tokens of those that their component depends on
 * ("${DB-0_HOST}"), and the lines of their hosts file. Built once for all launches between which no
 * such instance has changed, and shared by them. Hostile: addresses, which nodes tell. */
#ifndef SELVEDGE_SERVICE_AM_FACTS_PEERS_H
#define SELVEDGE_SERVICE_AM_FACTS_PEERS_H

#include "service/am/facts/containers.h"
#include "service/definition/tokens.h"
#include "service/engine/engine.h"

#define SVC_HOSTS_MAX 10000 /* lines of a hosts file; more are left out, and it says so */
#define SVC_PEERS_MANY 2000 /* more are not looked for again within SVC_PEERS_FRESH_MS */
#define SVC_PEERS_FRESH_MS 1000

/* ---- Shared: never changed, used by jobs of the worker, too ---- */

struct svc_peers;
struct svc_peers *svc_peers_ref(struct svc_peers *p);
struct svc_peers *svc_peers_unref(struct svc_peers *p); /* accepts NULL, returns NULL */
/* The service's tokens with those of the peers. */
const struct svc_tokens *svc_peers_tokens(const struct svc_peers *p);
/* The text of the hosts file; NULL: the container has none. */
const char *svc_peers_hosts(const struct svc_peers *p);

/* ---- The master's ---- */

struct svc_names;
struct svc_names_config {
    const struct svc_engine *engine;
    const struct svc_containers *containers;
    const struct svc_tokens *tokens; /* the service's; outlives all that is shared */
    const char *heading;             /* lines of comment, each with its end; copied */
    const char *suffix; /* of host names, ".shop.alice.example.org"; NULL: none; copied */
};
int svc_names_new(const struct svc_names_config *cfg, struct svc_names **ret) _must_use_;
struct svc_names *svc_names_free(struct svc_names *n);
/* An instance has another container or address than before, or none. Accepts NULL, for both. */
void svc_names_changed(struct svc_names *n, const char *instance);
/* For a launch of the component. `all`: its hosts file has all instances, else those that it
 * depends on, and where it depends on none there is none. NULL: out of memory. */
struct svc_peers *svc_names_peers(struct svc_names *n, const struct svc_component *c, bool all)
    _must_use_;

#endif
