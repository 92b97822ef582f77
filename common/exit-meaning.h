/* Descriptions of containers' exit codes. */
#ifndef SELVEDGE_COMMON_EXIT_MEANING_H
#define SELVEDGE_COMMON_EXIT_MEANING_H

#include <stddef.h>

/* "killed by SIGKILL", "command not found", "more memory than its limit"; NULL: an exit code of the
 * program's own. Negative codes are Hadoop's ContainerExitStatus. `diagnostics` (NULL: not known)
 * are the container's: a ResourceManager ends containers for several reasons with -100, ABORTED,
 * and only its words (SchedulerUtils) tell which. */
const char *sv_exit_meaning(int code, const char *diagnostics);

/* Why a container ended, as metrics count it. */
enum sv_end {
    SV_END_SUCCESS,
    SV_END_EXIT_CODE, /* of its program */
    SV_END_SIGNAL,    /* its program was killed by one */
    SV_END_MEMORY,    /* more than its limit */
    SV_END_LOGS,
    SV_END_DISKS,
    SV_END_NOT_STARTED, /* resources that could not be localized, a refused or late start */
    SV_END_MASTER,      /* its ApplicationMaster stopped or released it */
    SV_END_RM,
    SV_END_APPLICATION, /* its application has ended */
    SV_END_PREEMPTED,
    SV_END_SCHEDULER, /* stopped for another on its node */
    SV_END_LOST,      /* with its node */
    SV_ENDS
};
enum sv_end sv_exit_end(int code, const char *diagnostics);
const char *sv_end_name(enum sv_end end); /* "exit_code": a value of the label reason */

/* Writes how a process ended, by its status of waitpid(): "container-localizer exited with 1",
 * "… exited with 137: killed by SIGKILL", "… was killed by signal 9". Returns `text`. */
const char *sv_exit_text(const char *program, int status, char *text, size_t size);

#endif
