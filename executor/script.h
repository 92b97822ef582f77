/* launch_container.sh, as Hadoop's ContainerLaunch writes it: redirect, environment in the order of
 * its dependencies, links to the cache, the command.
 *
 * Hostile input: everything from the application: names and values of variables, names of links,
 * commands. The script runs as the application's user in any case; it must guarantee that a value
 * has its meaning in YARN, and that no value ends its own line early. */
#ifndef SELVEDGE_EXECUTOR_SCRIPT_H
#define SELVEDGE_EXECUTOR_SCRIPT_H

#include "common/buf.h"
#include "common/error.h"

/* Limits of one container's environment. YARN has none; beyond these a launch could not succeed:
 * the kernel executes nothing with more than 128 KiB in one variable (MAX_ARG_STRLEN), and the
 * script that sets the variables is at most EXE_FILE_MAX long. */
#define EXE_ENV_MAX 4096                  /* variables */
#define EXE_ENV_VARIABLE_MAX (128 * 1024) /* bytes of a name, "=", its value and the NUL */
#define EXE_ENV_BYTES_MAX (1024 * 1024)   /* bytes of all names and values */

enum exe_env_kind {
    EXE_ENV_EXPAND,    /* the application's: marks are replaced, $VAR and ${VAR} expand */
    EXE_ENV_LITERAL,   /* ours: literal */
    EXE_ENV_WHITELIST, /* export X=${X:-"value"}; value as EXPAND */
};

struct exe_env {
    const char *name; /* [A-Za-z_][A-Za-z0-9_]*; others are refused */
    const char *value;
    enum exe_env_kind kind;
};

struct exe_link {
    const char *target; /* absolute path in the cache */
    const char *name;   /* relative, below the work dir */
};

struct exe_script {
    const struct exe_env *env;
    size_t n_env; /* a later entry of the same name replaces an earlier one */
    const struct exe_link *links;
    size_t n_links;
    bool again;                  /* it ran before: what stands at a link's name is removed first */
    const char *const *commands; /* joined by one blank */
    size_t n_commands;
    const char *log_dir;       /* for <LOG_DIR>, prelaunch.out and prelaunch.err */
    const char *add_opens;     /* for <ADD_OPENS>; "" if Java is older than 17 */
    int niceness;              /* its processes' niceness is raised by it; 0 or more */
    bool debug_info;           /* yarn.nodemanager.log-container-debug-info.enabled */
    const char *debug_program; /* path of container-debug-info, or NULL; if the container cannot see
                                  it the script uses cp, ls and find */
    uint64_t *comparisons; /* counts comparisons of names, for the test of growth; may be NULL */
};

/* Appends the script to `out`. -EINVAL with a message for a refused name or a value with a NUL;
 * -EMSGSIZE over `out->max`. */
int exe_script_build(const struct exe_script *s, struct sv_buf *out, struct sv_error *err)
    _must_use_;

/* The <ADD_OPENS> options for the Java at `java_home` (its `release` file, cached by path, mtime
 * and inode): the text for 17 and newer, "" otherwise or if it cannot be read. */
const char *exe_add_opens(const char *java_home);

/* Appends `s` quoted, so that bash reads one literal word, whatever its bytes. */
int exe_quote(struct sv_buf *out, const char *s) _must_use_;
/* Appends `s` inside double quotes: $VAR, ${VAR}, $(…) and `…` keep their meaning, as in YARN; a
 * bare double quote is escaped, an unfinished backslash is doubled. */
int exe_quote_expand(struct sv_buf *out, const char *s) _must_use_;

#endif
