/* Finds the largest container that the cluster grants, without using up an application id: from the
 * scheduler overview in its REST since Hadoop 3.4, before from its configuration. Hostile: the
 * answers. */
#ifndef SELVEDGE_CLIENT_RUN_CLUSTER_MAXIMUM_H
#define SELVEDGE_CLIENT_RUN_CLUSTER_MAXIMUM_H

#include "client/core/session.h"

struct cli_maximum;

/* Status 0, or -ECANCELED when the command ends. Unknown values are 0. Runs once, unless cancelled
 * before. */
typedef void (*cli_maximum_fn)(int status, struct yarn_resource maximum, void *userdata);

/* `ret` is valid until fn() runs. */
int cli_maximum_ask(struct cli_ctx *ctx, cli_maximum_fn fn, void *userdata,
                    struct cli_maximum **ret) _must_use_;
void cli_maximum_forget(struct cli_maximum *m);

/* Parse an answer of /ws/v1/cluster/scheduler-overview, and of /conf?name=KEY for a number. 0:
 * unknown. */
struct yarn_resource cli_maximum_of_overview(const char *body, size_t len);
int64_t cli_maximum_of_conf(const char *body, size_t len);

#endif
