/* Hosts, and what each component knows of each: containers there, failures, recent use. */
#ifndef SELVEDGE_SERVICE_ENGINE_NODES_H
#define SELVEDGE_SERVICE_ENGINE_NODES_H

#include "service/engine/model.h"

struct svc_node *svc_node_get(struct svc_engine *e, const char *host);
/* Returns true if the host became usable. */
bool svc_node_set_usable(struct svc_engine *e, const struct yarn_node_id *id, bool usable);
struct svc_entry *svc_entry_get(struct svc_comp *c, struct svc_node *n);
struct svc_entry *svc_entry_find(const struct svc_comp *c, const struct svc_node *n); /* or NULL */

/* Counts a failure there; blacklists the host once there are more than the component's threshold
 * in this window. */
void svc_entry_failed(struct svc_comp *c, struct svc_entry *n);
bool svc_entry_failed_too_often(const struct svc_comp *c, const struct svc_entry *n);
/* A new window begins: no host has failed. */
void svc_nodes_forgive(struct svc_engine *e);
/* On the blacklist, for there is to be no other container there. */
void svc_node_occupied(struct svc_engine *e, struct svc_node *n, bool occupied);
void svc_nodes_tell(struct svc_engine *e); /* the blacklist again */

/* The list of recently used hosts. */
void svc_entry_used(struct svc_comp *c, struct svc_entry *n, int64_t now);
void svc_entry_unlist(struct svc_comp *c, struct svc_entry *n);

void svc_entries_free(struct svc_comp *c);
void svc_nodes_free(struct svc_engine *e);

#endif
