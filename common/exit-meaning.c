/* See exit-meaning.h. */
#include "common/exit-meaning.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/base.h"

#define ABORTED (-100)

/* Texts of Hadoop's SchedulerUtils and RMContainerImpl, Apache's ResourceManager's and ours. */
static const char *aborted(const char *diagnostics)
{
    static const struct {
        const char *words, *text;
    } reasons[] = {
        { "Container of a completed application", "its application has ended" },
        { "*lost* node", "its node was lost" },
        { "Container released by application", "its ApplicationMaster released it" },
        { "Container expired since it was unused", "it was not started in time" },
    };

    for (size_t i = 0; diagnostics && i < SV_ARRAY_LEN(reasons); i++)
        if (strstr(diagnostics, reasons[i].words))
            return reasons[i].text;
    return "released, lost with its node, or ended with its application";
}

const char *sv_exit_meaning(int code, const char *diagnostics)
{
    static const struct {
        int code;
        const char *text;
    } meanings[] = {
        { 126, "the command cannot be executed" },
        { 127, "command not found" },
        { 129, "killed by SIGHUP" },
        { 130, "killed by SIGINT" },
        { 131, "killed by SIGQUIT" },
        { 132, "killed by SIGILL" },
        { 134, "killed by SIGABRT" },
        { 135, "killed by SIGBUS" },
        { 136, "killed by SIGFPE" },
        { 137, "killed by SIGKILL" },
        { 139, "killed by SIGSEGV" },
        { 141, "killed by SIGPIPE" },
        { 143, "killed by SIGTERM" },
        { 159, "killed by SIGSYS: a system call that its profile forbids" },
        { -101, "the node's disks failed" },
        { -102, "preempted for another job" },
        { -103, "more virtual memory than its limit" },
        { -104, "more memory than its limit" },
        { -105, "stopped by its ApplicationMaster" },
        { -106, "stopped by the ResourceManager" },
        { -107, "its application has ended" },
        { -108, "the scheduler stopped it" },
        { -109, "larger logs than its limit" },
        { -210, "a port that it was given was taken on its node" },
        { -1000, "it was not started" },
    };

    if (code == ABORTED)
        return aborted(diagnostics);
    for (size_t i = 0; i < SV_ARRAY_LEN(meanings); i++)
        if (meanings[i].code == code)
            return meanings[i].text;
    return NULL;
}

static enum sv_end aborted_end(const char *diagnostics)
{
    if (!diagnostics)
        return SV_END_LOST;
    if (strstr(diagnostics, "Container released by application"))
        return SV_END_MASTER;
    if (strstr(diagnostics, "Container of a completed application"))
        return SV_END_APPLICATION;
    return strstr(diagnostics, "Container expired") ? SV_END_NOT_STARTED : SV_END_LOST;
}

enum sv_end sv_exit_end(int code, const char *diagnostics)
{
    switch (code) {
    case 0:
        return SV_END_SUCCESS;
    case ABORTED:
        return aborted_end(diagnostics);
    case -101:
        return SV_END_DISKS;
    case -102:
        return SV_END_PREEMPTED;
    case -103:
    case -104:
        return SV_END_MEMORY;
    case -105:
        return SV_END_MASTER;
    case -106:
        return SV_END_RM;
    case -107:
        return SV_END_APPLICATION;
    case -108:
        return SV_END_SCHEDULER;
    case -109:
        return SV_END_LOGS;
    case 154: /* ContainerExecutor.ExitCode.LOST */
        return SV_END_LOST;
    default:
        return code < 0 ? SV_END_NOT_STARTED : code > 128 ? SV_END_SIGNAL : SV_END_EXIT_CODE;
    }
}

const char *sv_end_name(enum sv_end end)
{
    static const char *const names[SV_ENDS] = { "success",     "exit_code", "signal",
                                                "memory",      "logs",      "disks",
                                                "not_started", "master",    "resourcemanager",
                                                "application", "preempted", "scheduler",
                                                "lost" };

    return names[end];
}

const char *sv_exit_text(const char *program, int status, char *text, size_t size)
{
    const int code = WEXITSTATUS(status);
    const char *meaning = code > 128 ? sv_exit_meaning(code, NULL) : NULL;

    if (WIFSIGNALED(status))
        (void)snprintf(text, size, "%s was killed by signal %d", program, WTERMSIG(status));
    else
        (void)snprintf(text, size, "%s exited with %d%s%s", program, code, meaning ? ": " : "",
                       meaning ? meaning : "");
    return text;
}
