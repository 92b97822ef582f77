/* `selvedge run`: its options and the job's files. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_H
#define SELVEDGE_CLIENT_RUN_RUN_H

#include "client/core/commands.h"
#include "client/core/session.h"
#include "client/job/job.h"
#include "client/run/stage.h"

enum { /* options of `run` and `submit` without a short form */
       RUN_OPT_AM_MEMORY = CLI_OPT_OWN,
       RUN_OPT_AM,
       RUN_OPT_TRIES,
       RUN_OPT_ROLLED_LOGS,
       RUN_OPT_NO_OUTPUT,
       RUN_OPT_GPUS,
       RUN_OPT_RESTART,
       RUN_OPT_TIMEOUT,
       RUN_OPT_USER,
       RUN_OPT_LOCAL_DIR,
       RUN_OPT_VIEW_ACL,
       RUN_OPT_MODIFY_ACL,
       RUN_OPT_RERUN,
};

struct run_file {
    const char *path;
    char *link; /* owned */
    enum cli_resource_type type;
    bool directory; /* packed into an archive */
};

struct run_group {    /* instances of one size and one command */
    const char *name; /* "": the only one, of the command line */
    const char *what; /* "a container", "a container of group NAME", for messages */
    struct yarn_resource resource;
    int32_t instances, restarts, at_once; /* at_once 0: no limit */
    int32_t *only;                        /* the instances that run, ascending; NULL: all */
    size_t n_only;
    const char *const *command; /* NULL-terminated */
    bool is_line;               /* a single word: a line for bash */
    /* Besides the job's: */
    struct run_file *files;
    size_t n_files;
    const char **env;
    size_t n_env;
};

struct run_options {
    const char *subcommand; /* run or submit, for messages */
    const char *name, *queue, *am_file;
    const char *job_file; /* -F; NULL: the job is the command line's */
    const char *rerun;    /* an application whose failed instances run again; or NULL */
    struct yarn_resource resource, am_resource;
    int32_t instances, tries, restarts;
    int32_t at_once; /* containers of all groups at a time; 0: no limit */
    struct run_group *groups;
    size_t n_groups;
    int32_t runs;                      /* instances of all groups that run */
    bool of_command;                   /* an option was given that a job file replaces */
    struct sv_arena *arena;            /* memory of the groups, and of what is read from the file */
    int64_t lifetime_s;                /* 0: unlimited */
    const char *rolled_logs;           /* NULL: none */
    const char *user;                  /* NULL: the caller */
    const char *view_acl, *modify_acl; /* NULL: nobody else */
    struct run_file files[CLI_RESOURCES_MAX];
    size_t n_files;
    const char *env[CLI_RESOURCES_MAX]; /* "NAME=VALUE" */
    size_t n_env;
    char **command; /* NULL-terminated */
    bool no_output; /* do not print the containers' output */
    bool detach;    /* print the id and do not wait */
};

/* 0, or the exit code after an error message. */
int cli_run_parse(struct cli_ctx *ctx, int argc, char **argv, struct run_options *ret);
/* Reads o->job_file into `o`, where the command line has not said otherwise: 0, or 2 after an error
 * message with line and key. */
int cli_run_read_file(struct run_options *o);
/* After cli_connect(): only what failed in the application o->rerun stays in the groups. 0, or the
 * exit code after an error message. */
int cli_run_keep_failed(struct cli_ctx *ctx, struct run_options *o);
/* Counts o->runs anew. */
void cli_run_count(struct run_options *o);
/* If root: switches permanently to `o->user`, the owner of files, job and processes from then on.
 * 0, or 2 after an error message. No effect if NULL. */
int cli_run_become(const struct run_options *o);
void cli_run_options_free(struct run_options *o);
/* Copies all files into the staging directory and describes the ApplicationMaster's launch. The
 * job's texts are in `a`, the resources' in the stage. */
int cli_run_stage(const struct run_options *o, struct sv_conf *conf, struct cli_stage *stage,
                  struct sv_arena *a, struct cli_job *ret_job, struct cli_resource ret_am[2],
                  struct sv_error *err) _must_use_;

#endif
