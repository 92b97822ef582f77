/* Converts REST answers of ResourceManagers and NodeManagers, Selvedge's and Apache's, to objects
 * with keys of our own: for `inspect`, `top` and `version`. The keys are an interface: they are
 * added to, never renamed. Missing values and values of another type become null. Hostile: a node's
 * answer has texts and numbers of jobs. */
#ifndef SELVEDGE_CLIENT_HTTP_PEER_ANSWER_H
#define SELVEDGE_CLIENT_HTTP_PEER_ANSWER_H

#include <jansson.h>
#include <stddef.h>

#define CLI_ANSWER_ITEMS_MAX 100000 /* containers of one node; more are left out */

/* Each returns a new object, or NULL if the body is no such answer. */
json_t *cli_answer_app(const char *body, size_t len);       /* /ws/v1/cluster/apps/ID */
json_t *cli_answer_cluster(const char *body, size_t len);   /* /ws/v1/cluster/info */
json_t *cli_answer_node(const char *body, size_t len);      /* /ws/v1/node/info */
json_t *cli_answer_container(const char *body, size_t len); /* /ws/v1/node/containers/ID */
/* /ws/v1/node/containers: a new array of objects like the above. */
json_t *cli_answer_containers(const char *body, size_t len);

#endif
