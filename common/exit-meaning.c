/* See exit-meaning.h. */
#include "common/exit-meaning.h"

#include <stddef.h>

#include "common/base.h"

const char *sv_exit_meaning(int code)
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
        { -100, "its node was lost or it was released" },
        { -101, "the node's disks failed" },
        { -102, "preempted for another job" },
        { -103, "more virtual memory than its limit" },
        { -104, "more memory than its limit" },
        { -105, "stopped by its ApplicationMaster" },
        { -106, "stopped by the ResourceManager" },
        { -107, "its application has ended" },
        { -108, "the scheduler stopped it" },
        { -1000, "it was not started" },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(meanings); i++)
        if (meanings[i].code == code)
            return meanings[i].text;
    return NULL;
}
