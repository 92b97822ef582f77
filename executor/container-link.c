/* container-link: makes links in the work directory of a running container, of a LINK request that
 * container-executor has checked, as the job's user (executor/job-user.h). Beside the request it
 * has
 *
 *    fd 3   the local directory of the work directory, O_PATH
 *    fd 4   the daemon's list: "NAME\0TARGET\0" for each link
 *
 * Its file is not readable by users (mode 0711), so no process of the same user can trace it.
 *
 * It has no right that the job has not, and MUST follow no link of the work directory, which the
 * job changes meanwhile. Hostile input: the list, the work directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/job-user.h"

enum { LOCAL = 3, LIST = 4 };
#define PATH_SIZE 768
#define DIRECTORY (O_PATH | O_DIRECTORY | O_NOFOLLOW)
#define SECONDS 30 /* a list that never ends */

/* Makes the directories of the name's path and the link in the last. What stands there already
 * stays. Returns an errno. */
static int make_link(int work, char *name, const char *target)
{
    int dir = dup(work), error = dir < 0 ? errno : 0;
    for (char *slash; error == 0 && (slash = strchr(name, '/')); name = slash + 1) {
        *slash = '\0';
        if (mkdirat(dir, name, 0750) < 0 && errno != EEXIST)
            error = errno;
        int next = error ? -error : job_user_open(dir, name, DIRECTORY);
        (void)close(dir);
        dir = next;
        error = next < 0 ? -next : 0;
    }
    if (error == 0 && symlinkat(target, dir, name) < 0 && errno != EEXIST)
        error = errno;
    if (dir >= 0)
        (void)close(dir);
    return error;
}

/* All that can be made; the first failure. */
static int make_links(int work, char *list, size_t n)
{
    int error = 0;
    for (char *name = list, *end = list + n; name < end;) {
        char *target = name + strnlen(name, (size_t)(end - name)) + 1;
        char *next = target < end ? target + strnlen(target, (size_t)(end - target)) + 1 : end + 1;
        if (next > end)
            return EBADMSG;
        int e = make_link(work, name, target);
        error = error ? error : e;
        name = next;
    }
    return error;
}

static ssize_t read_list(char *list, size_t size)
{
    size_t n = 0;
    while (n < size) {
        ssize_t got = pread(LIST, list + n, size - n, (off_t)n);
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        n += (size_t)got;
    }
    return n < size ? (ssize_t)n : -EMSGSIZE;
}

int main(int argc, char **argv)
{
    static char list[EXE_FILE_MAX + 1];
    char app[EXE_TEXT_MAX], container[EXE_TEXT_MAX], path[PATH_SIZE];
    struct exe_request r;
    (void)argv;
    if (!job_user_request(argc, EXE_OP_LINK, &r))
        return EXE_STATUS_REQUEST;
    (void)alarm(SECONDS);
    (void)umask(027);
    exe_app_text(&r, app);
    exe_container_text(&r, container);
    (void)snprintf(path, sizeof(path), "usercache/%s/appcache/%s/%s", r.submitter, app, container);
    int work = job_user_open(LOCAL, path, DIRECTORY);
    if (work < 0)
        return job_user_answer(&r, EXE_STATUS_WORK_DIR, -work, container);
    ssize_t n = read_list(list, sizeof(list));
    int error = n < 0 ? (int)-n : make_links(work, list, (size_t)n);
    return job_user_answer(&r, error ? EXE_STATUS_LINK : EXE_STATUS_OK, error, container);
}
