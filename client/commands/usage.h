/* What applications and containers use, put together from the ResourceManager's list and the lists
 * of the nodes: for `top`. Hostile: the nodes' lists have names and numbers of jobs. */
#ifndef SELVEDGE_CLIENT_COMMANDS_USAGE_H
#define SELVEDGE_CLIENT_COMMANDS_USAGE_H

#include <jansson.h>

#include "common/base.h"

#define CLI_USAGE_ROWS_MAX 100000 /* containers that are kept; sums have the others too */

struct cli_usage {
    json_t *apps; /* array; with memoryBytes, cpuCores, …Pressure, null until a node tells */
    json_t *containers; /* array of cli_answer_container()'s, with "application" */
    json_t *by_id;      /* the same applications */
};

enum cli_usage_order { CLI_USAGE_BY_CPU, CLI_USAGE_BY_MEMORY };

int cli_usage_init(struct cli_usage *u) _must_use_;
void cli_usage_free(struct cli_usage *u);
/* An object with "id"; taken. */
void cli_usage_add_app(struct cli_usage *u, json_t *app);
/* Of cli_answer_containers(); taken. Those that have ended are left out, and so are those of other
 * applications than `only`, unless that is NULL. */
void cli_usage_add_node(struct cli_usage *u, json_t *containers, const char *only);
/* The largest first; equal and unknown ones by their ids. A new array. */
json_t *cli_usage_sorted(const json_t *rows, enum cli_usage_order order);

#endif
