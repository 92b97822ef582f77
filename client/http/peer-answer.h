/* REST answers of ResourceManagers and NodeManagers, ours and Apache's, as objects with keys of our
 * own: for `inspect`, `top` and `version`. The keys are an interface: they are added to, never
 * renamed. What the other side does not tell, or tells as another type, is null. Hostile: a node's
 * answer has texts and numbers of jobs. */
#ifndef SELVEDGE_CLIENT_HTTP_PEER_ANSWER_H
#define SELVEDGE_CLIENT_HTTP_PEER_ANSWER_H

#include <jansson.h>
#include <stddef.h>

#define CLI_ANSWER_ITEMS_MAX 100000 /* containers of one node; more are left out */

/* A new object, or NULL when the body is no such answer. */
json_t *cli_answer_app(const char *body, size_t len);       /* /ws/v1/cluster/apps/ID */
json_t *cli_answer_cluster(const char *body, size_t len);   /* /ws/v1/cluster/info */
json_t *cli_answer_node(const char *body, size_t len);      /* /ws/v1/node/info */
json_t *cli_answer_container(const char *body, size_t len); /* /ws/v1/node/containers/ID */
/* /ws/v1/node/containers: a new array of what the line above returns. */
json_t *cli_answer_containers(const char *body, size_t len);

#endif
