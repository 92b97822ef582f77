/* Parts of container-start, the first program of a container: the launch script read as a plan, and
 * a command as words. Both understand what executor/script.c writes and what ApplicationMasters
 * usually ask for; they refuse everything else, which is bash's then.
 *
 * Hostile: all of the text, which is the application's own. It decides over nothing but the
 * container of its author: the program has the job's rights and no others. */
#ifndef SELVEDGE_EXECUTOR_START_H
#define SELVEDGE_EXECUTOR_START_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* More is bash's. */
#define START_VARIABLES_MAX 1024
#define START_STEPS_MAX 4096
#define START_WORDS_MAX 4096
#define START_REDIRECTIONS_MAX 8
#define START_TEXT_MAX (4u << 20) /* bytes of all values, names and words */

struct start_variable {
    const char *name, *value;
};

struct start_step {
    enum { START_MKDIR, START_REMOVE, START_LINK } what;
    const char *name, *target; /* `target` of a link alone */
};

struct start_plan {
    const char *out, *err; /* PRELAUNCH_OUT and PRELAUNCH_ERR */
    struct start_variable variables[START_VARIABLES_MAX];
    size_t n_variables; /* all are exported */
    struct start_step steps[START_STEPS_MAX];
    size_t n_steps;
    const char *debug_logs; /* the log directory, if copies for debugging are asked for; or NULL */
    const char *command;    /* of bash -c */
};

/* A shell's state before its first line. */
struct start_shell {
    const char *path, *directory; /* PATH, and the current directory */
    pid_t pid;
};

/* False: the script is not as script.c writes it, or a value is more than names of variables and
 * text. `text` ends with a NUL, which `len` does not count; `ret` is zeroed by the caller. What it
 * returns lasts until the next call. */
bool start_read_script(const char *text, size_t len, const struct start_shell *shell,
                       struct start_plan *ret);

struct start_redirection {
    int fd;           /* 1 or 2 */
    int from;         /* another of these, or -1 */
    const char *file; /* where `from` is -1 */
    bool append;
};

struct start_command {
    char *argv[START_WORDS_MAX + 1];
    size_t n;
    struct start_redirection redirections[START_REDIRECTIONS_MAX];
    size_t n_redirections;
    bool replaces; /* bash's exec */
};

/* With what it returns as above. False: the text is more than one command of plain words and
 * redirections to files, or its name is one that means something to bash itself. */
bool start_read_command(const char *text, struct start_command *ret);

#endif
