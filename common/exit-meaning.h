/* Descriptions of containers' exit codes. */
#ifndef SELVEDGE_COMMON_EXIT_MEANING_H
#define SELVEDGE_COMMON_EXIT_MEANING_H

#include <stddef.h>

/* "killed by SIGKILL", "command not found", "more memory than its limit"; NULL: an exit code of the
 * program's own. Negative codes are Hadoop's ContainerExitStatus. `diagnostics` (NULL: not known)
 * are the container's: a ResourceManager ends containers for several reasons with -100, ABORTED,
 * and only its words (SchedulerUtils) tell which. */
const char *sv_exit_meaning(int code, const char *diagnostics);

/* Writes how a process ended, by its status of waitpid(): "container-localizer exited with 1",
 * "… exited with 137: killed by SIGKILL", "… was killed by signal 9". Returns `text`. */
const char *sv_exit_text(const char *program, int status, char *text, size_t size);

#endif
