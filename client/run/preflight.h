/* What can be known before a job is submitted: its files, its queue, whether the cluster
 * and any node are large enough. A job that cannot run is refused before it uses up an application
 * id. */
#ifndef SELVEDGE_CLIENT_RUN_PREFLIGHT_H
#define SELVEDGE_CLIENT_RUN_PREFLIGHT_H

#include "client/run/run.h"

/* Needs no connection: each file can be read. 0, or 2 after an error message. */
int cli_preflight_files(const struct run_options *o);

/* Whether the cluster's largest container is enough; false after an error message. 0 in `maximum`:
 * not known. */
bool cli_preflight_fits(const struct run_options *o, struct yarn_resource maximum);

/* Asks the ResourceManager for queue, nodes and the largest container. fn() runs when nothing
 * forbids the job; otherwise the loop ends with 2 after an error message. `o` outlives the call. */
int cli_preflight_cluster(struct cli_ctx *ctx, const struct run_options *o,
                          void (*fn)(void *userdata), void *userdata) _must_use_;

#endif
