/* Checks before a job is submitted: its files, its queue, whether the cluster and any node are
 * large enough. A job that cannot run is rejected before it uses up an application id. */
#ifndef SELVEDGE_CLIENT_RUN_PREFLIGHT_H
#define SELVEDGE_CLIENT_RUN_PREFLIGHT_H

#include "client/run/run.h"

/* Checks without a connection that each file is readable. 0, or 2 after an error message. */
int cli_preflight_files(const struct run_options *o);

/* Checks that the cluster's largest container is enough; false after an error message. 0 in
 * `maximum`: unknown. */
bool cli_preflight_fits(const struct run_options *o, struct yarn_resource maximum);

/* Queries the ResourceManager for queue, nodes and the largest container. Calls fn() if the job can
 * run; otherwise the loop ends with 2 after an error message. `o` must outlive the call. */
int cli_preflight_cluster(struct cli_ctx *ctx, const struct run_options *o,
                          void (*fn)(void *userdata), void *userdata) _must_use_;

#endif
