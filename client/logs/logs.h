/* One run of `selvedge logs`, shared by its files: queries the nodes first (logs-live.c;
 * logs-follow.c while the application runs), then reads the rest from the remote log directory
 * (logs-aggregated.c). */
#ifndef SELVEDGE_CLIENT_LOGS_LOGS_H
#define SELVEDGE_CLIENT_LOGS_LOGS_H

#include "client/core/commands.h"
#include "client/views/status.h"

/* State of a container in the table. */
enum cli_log_state {
    CLI_LOG_UNTRIED,
    CLI_LOG_PRINTED,    /* by its node, or unchanged since --since */
    CLI_LOG_MISSING,    /* its node does not have its logs, see `why` */
    CLI_LOG_AGGREGATED, /* printed from the remote log directory, possibly in part */
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
    bool service;     /* these are stdout.txt and stderr.txt of a service's instances, too */
    bool all;         /* every file */
    bool follow;
    int64_t tail;             /* lines; -1: whole logs */
    int64_t since_ms;         /* skip files last changed before; 0: no limit */
    char owner[256];          /* owner of the application */
    bool rows_known, ended;   /* the table was read; the application has ended */
    struct cli_status status; /* the table */
    struct cli_log_row *rows; /* one per row */
    struct cli_live *live;
    struct cli_following *following;
    bool failed; /* an error was printed, so the exit code is 1 */
};

/* `selvedge logs`, of a `service` too; argv as for cli_cmd_logs(). */
int cli_logs_run(struct cli_ctx *ctx, int argc, char **argv, bool service);
/* `selvedge logs` of what another command has found: with its options, which getopt_long() has
 * moved to the front of `argv`. `container` may be "": all. */
int cli_logs_found(struct cli_ctx *ctx, char **argv, char *application, char *container,
                   bool service);
/* True if the file is selected. */
bool cli_logs_wanted(const struct cli_logs *l, const char *name);
/* True if the container is selected. `row` may be NULL: its instance is unknown. */
bool cli_logs_selected(const struct cli_logs *l, const char *container, const struct cli_row *row);
/* Formats the line above a log, "" if none is needed. `row` may be NULL. */
void cli_logs_header(const struct cli_logs *l, const struct cli_row *row, const char *container,
                     const char *node, const char *name, char ret[900]);

/* Describes a missing log, by cli_follow_missing(); continues "NODE, which ran it, ". */
const char *cli_logs_missing_text(int reason);

/* Reads from the nodes, then ends the loop. 0 or -errno. */
int cli_logs_live(struct cli_logs *l) _must_use_;
void cli_logs_live_end(struct cli_logs *l);
/* Like cli_logs_live(), for a running application, until it ends. */
int cli_logs_follow(struct cli_logs *l) _must_use_;
void cli_logs_follow_end(struct cli_logs *l);
/* Reads missing logs from the remote log directory; reports those found nowhere. True if anything
 * was read. */
bool cli_logs_aggregated(struct cli_logs *l);

#endif
