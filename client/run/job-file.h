/* The job file of `selvedge submit -F`: YAML, docs/job-file.md. Keys are rows of two tables, which
 * also check the page. Hostile: the file, as far as its sizes go; it is the caller's own. */
#ifndef SELVEDGE_CLIENT_RUN_JOB_FILE_H
#define SELVEDGE_CLIENT_RUN_JOB_FILE_H

#include "client/job/job.h"
#include "common/arena.h"
#include "common/error.h"

#define CLI_FILE_LIST_MAX 200  /* files of a job or of a group */
#define CLI_FILE_WORDS_MAX 256 /* of a command; variables of an environment */

struct cli_file_path { /* a file to stage */
    const char *path;  /* as written, without "#NAME" */
    const char *name;  /* of its link */
    enum cli_resource_type type;
    bool directory; /* packed into an archive */
};

struct cli_file_env {
    const char *name, *value;
};

struct cli_file_command {
    const char **words; /* ended by NULL; NULL: not given */
    bool is_line;       /* one word: a line for bash; else a program and exactly its arguments */
};

struct cli_file_set { /* of a job or a group */
    struct cli_file_path *files;
    size_t n_files;
    struct cli_file_env *env;
    size_t n_env;
};

struct cli_file_group {
    const char *name;
    int64_t instances, memory_mb, vcores, gpus;
    int64_t retries; /* -1: the job's */
    int64_t at_once; /* 0: no limit */
    struct cli_file_command command;
    struct cli_file_set set;
    int line; /* in the file */
};

struct cli_job_file {
    const char *name, *queue, *view_acl, *modify_acl, *rolled_logs; /* NULL: not given */
    int64_t deadline_s, retries, tries, at_once, am_memory_mb;      /* 0: not given */
    struct cli_file_set set;
    struct cli_file_group *groups;
    size_t n_groups;
};

/* -EBADMSG with `err` "line N: KEY: …". Everything is in the arena. */
int cli_job_file_parse(const char *text, size_t len, struct sv_arena *a, struct cli_job_file *ret,
                       struct sv_error *err) _must_use_;

/* The keys of the job (group false) or of a group, for the page's test; NULL after the last. */
const char *cli_job_file_key(bool group, size_t i);

#endif
