/* `submit --explain`: what each task role asks of which node. Pure. */
#ifndef SELVEDGE_CLIENT_FRAMEWORK_EXPLAIN_H
#define SELVEDGE_CLIENT_FRAMEWORK_EXPLAIN_H

#include <jansson.h>

#include "client/lib/client.h"
#include "service/framework/descriptor.h"

#define CLI_EXPLAIN_ROWS_MAX 100000

/* A row of each role and node: what one task takes, how many the node has room for now, and what it
 * lacks for one. A new array; NULL: no memory. */
json_t *cli_framework_explain(const struct svc_fw_descriptor *d,
                              const struct cli_node_report *nodes, size_t n);

#endif
