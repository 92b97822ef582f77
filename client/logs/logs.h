/* One run of `selvedge logs`, shared by its files: the nodes are asked first (logs-live.c;
 * logs-follow.c while the application runs), then the remote log directory for what they do not
 * have (logs-aggregated.c). */
#ifndef SELVEDGE_CLIENT_LOGS_LOGS_H
#define SELVEDGE_CLIENT_LOGS_LOGS_H

#include "client/core/commands.h"
#include "client/views/status.h"

/* A container in the table. */
enum cli_log_state {
    CLI_LOG_UNTRIED,
    CLI_LOG_PRINTED,    /* by its node, or not changed since --since */
    CLI_LOG_MISSING,    /* its node does not have its logs, see why */
    CLI_LOG_AGGREGATED, /* printed from the remote log directory, perhaps in parts */
};

struct cli_log_row {
    enum cli_log_state state;
    char why[200];
};

struct cli_logs {
    struct cli_ctx *ctx;
    struct yarn_app_id app;
    const char *only; /* a container's id or an instance's number; NULL = all */
    const char *name; /* --log; NULL: stdout and stderr */
    bool all;         /* every file, whatever its name */
    bool follow;
    int64_t tail;             /* lines; -1: whole logs */
    int64_t since_ms;         /* files that changed last before are passed over; 0: none */
    char owner[256];          /* of the application */
    bool rows_known, ended;   /* the table was read; the application is over */
    struct cli_status status; /* the table */
    struct cli_log_row *rows; /* of each of its rows */
    struct cli_live *live;
    struct cli_following *following;
    bool failed; /* something was said that makes the exit code 1 */
};

/* Is it the container that was asked for? `row` may be NULL: then its instance is not known. */
bool cli_logs_selected(const struct cli_logs *l, const char *container, const struct cli_row *row);
/* The line above a log, "" where none is due. `row` may be NULL. */
void cli_logs_header(const struct cli_logs *l, const struct cli_row *row, const char *container,
                     const char *node, const char *name, char ret[900]);

/* Why a node's log is missing, by cli_follow_missing(): behind "NODE, which ran it, ". */
const char *cli_logs_missing_text(int reason);

/* Reads from the nodes, then ends the loop. 0 or -errno. */
int cli_logs_live(struct cli_logs *l) _must_use_;
void cli_logs_live_end(struct cli_logs *l);
/* The same of an application that runs, until it ends. */
int cli_logs_follow(struct cli_logs *l) _must_use_;
void cli_logs_follow_end(struct cli_logs *l);
/* Reads what is missing from the remote log directory; says what is nowhere. Was anything read? */
bool cli_logs_aggregated(struct cli_logs *l);

#endif
