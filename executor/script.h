/* launch_container.sh, as Hadoop's ContainerLaunch writes it: redirect, environment in the order of
 * its dependencies, links to the cache, the command.
 *
 * Hostile input: everything that the application gave: names and values of variables, names of
 * links, commands. It runs as the application's user whatever it says; what must hold is that a
 * value means what it means in YARN, and that no value ends its own line early. */
#ifndef SELVEDGE_EXECUTOR_SCRIPT_H
#define SELVEDGE_EXECUTOR_SCRIPT_H

#include "common/buf.h"
#include "common/error.h"

/* What an application may put into one container's environment. YARN has no limit; what exceeds
 * these could not start: the kernel executes nothing with more than 128 KiB in one variable
 * (MAX_ARG_STRLEN), and the script that sets the variables is at most EXE_FILE_MAX long. */
#define EXE_ENV_MAX 4096                  /* variables */
#define EXE_ENV_VARIABLE_MAX (128 * 1024) /* bytes of a name, "=", its value and the NUL */
#define EXE_ENV_BYTES_MAX (1024 * 1024)   /* bytes of all names and values */

enum exe_env_kind {
    EXE_ENV_EXPAND,    /* the application's: marks are replaced, $VAR and ${VAR} expand */
    EXE_ENV_LITERAL,   /* ours: every byte means itself */
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
    const char *const *commands; /* joined by one blank */
    size_t n_commands;
    const char *log_dir;       /* for <LOG_DIR>, prelaunch.out and prelaunch.err */
    const char *add_opens;     /* for <ADD_OPENS>; "" where Java is older than 17 */
    bool debug_info;           /* yarn.nodemanager.log-container-debug-info.enabled */
    const char *debug_program; /* path of container-debug-info, or NULL; where the container does
                                * not see it the script uses cp, ls and find */
    uint64_t *comparisons; /* counts comparisons of names, for the test of growth; may be NULL */
};

/* Appends the script to `out`. -EINVAL with a message for a name that is refused or a NUL's absence
 * of meaning; -EMSGSIZE over `out->max`. */
int exe_script_build(const struct exe_script *s, struct sv_buf *out, struct sv_error *err)
    _must_use_;

/* The options of peers.md's <ADD_OPENS> for the Java at `java_home` (its `release` file, cached by
 * path, mtime and inode): the text for 17 and newer, "" otherwise or when it cannot be read. */
const char *exe_add_opens(const char *java_home);

/* Appends `s` so that bash reads one word that is exactly `s`, whatever its bytes. */
int exe_quote(struct sv_buf *out, const char *s) _must_use_;
/* Appends `s` inside double quotes: $VAR, ${VAR}, $(…) and `…` keep their meaning, as in YARN; a
 * bare double quote is escaped, an unfinished backslash is doubled. */
int exe_quote_expand(struct sv_buf *out, const char *s) _must_use_;

#endif
