/* The largest container that the cluster gives, without using up an application id: its REST has an
 * overview of the scheduler since Hadoop 3.4, and its configuration before. Hostile: the answers.
 */
#ifndef SELVEDGE_CLIENT_RUN_CLUSTER_MAXIMUM_H
#define SELVEDGE_CLIENT_RUN_CLUSTER_MAXIMUM_H

#include "client/core/session.h"

struct cli_maximum;

/* Status 0, or -ECANCELED at the end of the command. What the ResourceManager does not tell is 0.
 * Runs once, unless it is forgotten before. */
typedef void (*cli_maximum_fn)(int status, struct yarn_resource maximum, void *userdata);

/* `ret` is valid until fn() runs. */
int cli_maximum_ask(struct cli_ctx *ctx, cli_maximum_fn fn, void *userdata,
                    struct cli_maximum **ret) _must_use_;
void cli_maximum_forget(struct cli_maximum *m);

/* Of an answer: /ws/v1/cluster/scheduler-overview, and /conf?name=KEY of a number. 0: not told. */
struct yarn_resource cli_maximum_of_overview(const char *body, size_t len);
int64_t cli_maximum_of_conf(const char *body, size_t len);

#endif
