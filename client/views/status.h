/* A job's containers, parsed from an ApplicationMaster's /status and a node's REST, and the table
 * printed for people. */
#ifndef SELVEDGE_CLIENT_VIEWS_STATUS_H
#define SELVEDGE_CLIENT_VIEWS_STATUS_H

#include <stdio.h>

#include "client/ui/output.h"
#include "client/views/localizing.h"
#include "common/base.h"
#include "common/error.h"
#include "wire/ids.h"

struct cli_row { /* one instance, or a container whose instance is unknown; -1 = unknown */
    int instance, tries;
    char group[64]; /* of a job with groups, else "" */
    int number;     /* in the group */
    char state[16];
    char container[YARN_ID_TEXT_MAX]; /* "" while waiting for one */
    char node[264], http[264];
    bool done;
    int exit_status;
    char *diagnostics;                                  /* owned; NULL: none */
    int64_t peak_bytes, cpu_ms, localize_ms, launch_ms; /* from the node */
    char not_enforced[64];                              /* "memory, pids, cpu", or "" */
    struct cli_localizing *localizing;                  /* owned; NULL: not localizing */
};

struct cli_status {
    char name[256];
    bool finished;
    int done, exit_code;
    int repeated_exits; /* repeated completions: 0 on a correct cluster */
    struct cli_row *rows;
    size_t n;
};

void cli_status_free(struct cli_status *s);
/* Parses the ApplicationMaster's /status. Usage fields are -1. */
int cli_status_parse(const char *json, size_t len, struct cli_status *ret, struct sv_error *err)
    _must_use_;
/* Parses a node's /ws/v1/node/containers/{id}: sets the usage fields that it has. */
void cli_row_usage(struct cli_row *row, const char *json, size_t len);
/* Parses the same answer: true when the container has ended, with its exit code and usage in the
 * row. */
bool cli_row_ended(struct cli_row *row, const char *json, size_t len) _must_use_;
/* List of the containers, with the fields of -o. */
extern const struct cli_list cli_containers;
json_t *cli_status_object(const struct cli_status *s, const char *app);
/* `lines`: printed from each failed instance's error file, below the table. */
#define CLI_TAIL_LINES 10
void cli_status_print(const struct cli_status *s, const char *app, const struct cli_output *o,
                      int lines, FILE *out);

#endif
