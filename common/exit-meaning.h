/* Descriptions of containers' exit codes. */
#ifndef SELVEDGE_COMMON_EXIT_MEANING_H
#define SELVEDGE_COMMON_EXIT_MEANING_H

/* "killed by SIGKILL", "command not found", "more memory than its limit"; NULL: an exit code of the
 * program's own. Negative codes are Hadoop's ContainerExitStatus. `diagnostics` (NULL: not known)
 * are the container's: a ResourceManager ends containers for several reasons with -100, ABORTED,
 * and only its words (SchedulerUtils) tell which. */
const char *sv_exit_meaning(int code, const char *diagnostics);

#endif
