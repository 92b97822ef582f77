/* The single exit on failure of container-executor and container-prepare.
 *
 * A step that fails MUST end the process: hlp_fail does not return. Files made by the failed step
 * MUST be removed before the failure is reported to the caller. */
#include <string.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

static int to_pipe = -1;
static void (*report)(enum exe_status status, int error, const char *what);
static void (*undo)(void *);
static void *undo_argument;

void hlp_fail_to_pipe(int fd)
{
    to_pipe = fd;
}

void hlp_fail_to(void (*fn)(enum exe_status status, int error, const char *what))
{
    report = fn;
}

void hlp_on_fail(void (*fn)(void *), void *argument)
{
    undo = fn;
    undo_argument = argument;
}

void hlp_fail(enum exe_status status, int error, const char *what)
{
    void (*run)(void *) = undo;
    if (to_pipe >= 0) {
        struct hlp_message m = { (int32_t)status, error, "" };
        size_t n = strlen(what);
        memcpy(m.what, what, n < sizeof(m.what) ? n : sizeof(m.what) - 1);
        (void)!write(to_pipe, &m, sizeof(m));
        _exit((int)status);
    }
    undo = NULL; /* once: it may fail, too */
    if (run)
        run(undo_argument);
    report(status, error, what);
    _exit((int)status);
}
