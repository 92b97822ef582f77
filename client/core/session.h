/* One run of the `selvedge` command: options, connections, event loop, error messages. Shared by
 * all subcommands. */
#ifndef SELVEDGE_CLIENT_CORE_SESSION_H
#define SELVEDGE_CLIENT_CORE_SESSION_H

#include <stdio.h>
#include <systemd/sd-event.h>

#include "client/http/fetch.h"
#include "client/lib/client.h"
#include "client/ui/output.h"
#include "fs/fs.h"

#define CLI_POLL_MS 200
#define CLI_BODY_MAX (16u << 20) /* limit of an answer that is held in memory */
#define CLI_OVERRIDES_MAX 64
#define CLI_WAIT_MS 5000    /* default of --wait */
#define CLI_COMPLETE_MS 300 /* a shell's completion ends after this time, complete or not */

struct cli_command;
struct cli_login;

struct cli_ctx {
    const struct cli_command *commands; /* the table */
    const struct cli_command *command;  /* the subcommand */
    sd_event *event;
    struct sv_conf *conf;
    struct cli_rm *rm;
    bool admin;    /* rm is connected to the administrators' port */
    bool web_only; /* rm is not needed: NULL with Kerberos */
    struct cli_fetch *fetch;
    bool kerberos;                          /* the cluster is secure */
    struct cli_login *login;                /* with Kerberos; NULL also if the web alone is used */
    char *user;                             /* the caller's account, as the cluster knows it */
    struct fs_identity files;               /* the caller to file systems */
    const char *conf_dir;                   /* --conf, or NULL */
    const char *principal, *keytab;         /* options, or NULL */
    char *overrides[CLI_OVERRIDES_MAX + 1]; /* -D, "KEY=VALUE", NULL-terminated */
    size_t n_overrides;
    uint64_t given[8]; /* bit set of options with a value that were already given, by letter */
    struct cli_output output;
    bool json;  /* output.format is CLI_JSON or CLI_YAML */
    bool lists; /* the subcommand prints a list, so all formats apply */
    bool verbose;
    int64_t wait_ms;     /* --wait: timeout for the first answer of the ResourceManager */
    size_t launcher;     /* which of several launchers has answered last */
    const char *subject; /* object of the ResourceManager's errors, such as an id; or NULL */
    char subject_text[YARN_ID_TEXT_MAX]; /* an application's whole id, for `subject` */
    int code;                            /* exit code of the subcommand, set by cli_stop() */
    sd_event_source *patience;    /* timer that ends the command after wait_ms without an answer */
    char away[SV_ERROR_TEXT_MAX]; /* why the last call did not reach it; "": it did */
    int64_t away_logged_ms;       /* when this was last reported; 0 = never */
    bool away_ticket;             /* the report was of a ticket, which the user can mend */
};

/* Reads only the configuration: 0 or the exit code, after an error message. */
int cli_load_conf(struct cli_ctx *ctx);
/* Reads the configuration and prepares the connection: after the options, before the first call. 0
 * or the exit code, after an error message. If the first call is not answered within wait_ms, the
 * command ends with 1 and a message with the addresses tried. */
int cli_connect(struct cli_ctx *ctx);

/* For a command without a list, which supports text, JSON and YAML: 0, or 2 after an error message.
 * cli_connect() calls it. */
int cli_check_format(const struct cli_ctx *ctx);
/* Like cli_connect(), to the administrators' port. */
int cli_connect_admin(struct cli_ctx *ctx);
/* Frees what cli_connect() has made. */
void cli_disconnect(struct cli_ctx *ctx);
/* Ends the connection, and forgets options and configuration: ready for another subcommand.
 * -ENOMEM.
 */
int cli_start_over(struct cli_ctx *ctx, const struct cli_command *command) _must_use_;
/* Runs the loop until cli_stop() is called; returns its code. */
int cli_loop(struct cli_ctx *ctx);
void cli_stop(struct cli_ctx *ctx, int code);
/* Prints "selvedge: …" on stderr, always as one line; returns 1. */
int cli_fail(const char *fmt, ...) _printf_(1, 2);
/* Reports an error and ends the loop with exit code 1; for callbacks. Replaces the
 * ResourceManager's exception texts by plainer ones, except with --verbose. `err` may be NULL. */
void cli_stop_error(struct cli_ctx *ctx, int status, const struct sv_error *err);
/* True if the ResourceManager answered that this user may not see the application. */
bool cli_refused(const struct cli_ctx *ctx, int status, const struct sv_error *err);
/* Prints the synopsis of the subcommand on stderr; returns 2. */
int cli_usage(const struct cli_ctx *ctx);
/* Prints `rows` (ownership taken) in the selected format and ends the loop with 0. */
void cli_stop_list(struct cli_ctx *ctx, const struct cli_list *list, json_t *rows);
/* Exit code of an ended application: the job's own for `selvedge run`, else 0 or 1. */
int cli_report_code(const struct cli_report *report);

#endif
