/* Exit codes of containers in words. */
#ifndef SELVEDGE_COMMON_EXIT_MEANING_H
#define SELVEDGE_COMMON_EXIT_MEANING_H

/* "killed by SIGKILL", "command not found", "more memory than its limit"; NULL: the program's own
 * code. Negative codes are Hadoop's ContainerExitStatus. */
const char *sv_exit_meaning(int code);

#endif
