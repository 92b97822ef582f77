/* Resource usage of applications and containers for `top`, merged from the ResourceManager's list
 * and the lists of the nodes. Hostile: the nodes' lists have names and numbers of jobs. */
#ifndef SELVEDGE_CLIENT_COMMANDS_USAGE_H
#define SELVEDGE_CLIENT_COMMANDS_USAGE_H

#include <jansson.h>

#include "common/base.h"

#define CLI_USAGE_ROWS_MAX 100000 /* containers kept; sums include the others */

struct cli_usage {
    json_t *apps; /* array; memoryBytes, cpuCores, …Pressure are null until reported by a node */
    json_t *containers; /* array of cli_answer_container()'s, with "application" */
    json_t *by_id;      /* the same applications */
};

enum cli_usage_order { CLI_USAGE_BY_CPU, CLI_USAGE_BY_MEMORY };

int cli_usage_init(struct cli_usage *u) _must_use_;
void cli_usage_free(struct cli_usage *u);
/* Adds an object with "id"; takes ownership. */
void cli_usage_add_app(struct cli_usage *u, json_t *app);
/* Adds a list from cli_answer_containers(); takes ownership. Ended containers are skipped, and
 * those of other applications than `only`, unless NULL. */
void cli_usage_add_node(struct cli_usage *u, json_t *containers, const char *only);
/* Returns a new array, largest first; equal and unknown ones are ordered by id. */
json_t *cli_usage_sorted(const json_t *rows, enum cli_usage_order order);

#endif
