/* The subcommands of `selvedge` and their options: one table (command-table.c) from which the
 * parser, --help, the man page, docs/commands.md and completion are generated. A subcommand is one
 * file. */
#ifndef SELVEDGE_CLIENT_CORE_COMMANDS_H
#define SELVEDGE_CLIENT_CORE_COMMANDS_H

#include "client/core/session.h"

enum cli_names { /* candidates that completion offers for an argument or an option's value */
                 CLI_NAMES_NONE,
                 CLI_NAMES_FILE,
                 CLI_NAMES_DIRECTORY,
                 CLI_NAMES_APP,
                 CLI_NAMES_APP_ENDED, /* including ended ones */
                 CLI_NAMES_NODE,
                 CLI_NAMES_QUEUE,
                 CLI_NAMES_SERVICE,   /* the caller's, running or ended */
                 CLI_NAMES_FORMAT,    /* for -o */
                 CLI_NAMES_CONTAINER, /* of the application that the first argument names */
};
#define CLI_NAMES_MASK 0xffu
/* Flags of options: */
#define CLI_MANY 0x100u     /* may be given more than once */
#define CLI_TEXT_ANY 0x200u /* the value may be empty, long, or have control characters */

struct cli_opt {
    int letter;        /* 'n', or one of CLI_OPT_…: no short form */
    const char *name;  /* without "--" */
    const char *value; /* placeholder of its value, "N"; "[=N]" if optional; NULL: no value */
    const char *help;  /* one line */
    unsigned names;    /* enum cli_names */
};

/* Options without a short form. */
enum {
    CLI_OPT_CONF = 256,
    CLI_OPT_JSON,
    CLI_OPT_VERBOSE,
    CLI_OPT_WAIT,
    CLI_OPT_NO_HEADERS,
    CLI_OPT_QUIET,
    CLI_OPT_UTC,
    CLI_OPT_LOCAL,
    CLI_OPT_WAIT_EMPTY,
    CLI_OPT_OWNER,
    CLI_OPT_ONCE,
    CLI_OPT_PRINCIPAL,
    CLI_OPT_KEYTAB,
    CLI_OPT_OWN = 300, /* first option of a subcommand */
};

struct cli_command {
    const char *name; /* one word, or two: "app list" */
    int (*run)(struct cli_ctx *ctx, int argc, char **argv);
    const char *synopsis, *summary;
    const char *help;              /* printed below the options */
    const struct cli_opt *options; /* ends with an empty one; NULL: none of its own */
    enum cli_names names;          /* of its arguments */
    enum cli_names then;           /* of those after the first; NONE: as the first */
    bool strict_order;             /* the first argument ends the options: a command follows */
    bool hidden;                   /* for scripts and the build: not listed */
    const char *exits;             /* exit codes; NULL: the common ones */
    const char *example;           /* one line for a shell, or NULL */
    /* Runs instead with --local: for this machine's NodeManager. */
    int (*local)(struct cli_ctx *ctx, int argc, char **argv);
};

extern const struct cli_command cli_commands[]; /* ends with an empty one */
extern const struct cli_opt cli_globals[];      /* options.c: of every subcommand; likewise */

/* argv[0] is the subcommand, including its second word if any. Results are exit codes; 2 = wrong
 * usage. */
int cli_cmd_run(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_ps(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_logs(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_kill(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_node_list(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_app_status(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_queue_list(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_queue_status(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_submit(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_stop(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_app_move(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_app_priority(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_app_attempts(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_node_status(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_node_decommission(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_node_recommission(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_queue_refresh(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_inspect(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_config(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_version(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_attach(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_history(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_top(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_exec(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_wait(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_service_launch(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_service_save(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_service_start(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_service_stop(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_service_destroy(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_service_flex(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_service_status(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_service_instances(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_service_upgrade(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_service_logs(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_service_import_slider(struct cli_ctx *ctx, int argc, char **argv); /* local */
int cli_cmd_framework_submit(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_framework_status(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_framework_list(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_framework_tasks(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_framework_scale(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_framework_stop(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_framework_delete(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_framework_migrate(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_framework_logs(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_framework_watch(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_localize(struct cli_ctx *ctx, int argc, char **argv); /* local */
int cli_cmd_complete(struct cli_ctx *ctx, int argc, char **argv);
int cli_cmd_manual(struct cli_ctx *ctx, int argc, char **argv);    /* local */
int cli_cmd_reference(struct cli_ctx *ctx, int argc, char **argv); /* local */
int cli_cmd_doctor(struct cli_ctx *ctx, int argc, char **argv);    /* local */

#endif
