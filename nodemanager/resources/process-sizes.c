/* See process-sizes.h. */
#include "nodemanager/resources/process-sizes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "common/fd.h"
#include "common/str.h"

#define PROCS_MAX ((size_t)32 << 20) /* bytes of cgroup.procs: as many as Linux has processes */
#define STAT_MAX 4096

/* The name may have blanks and parentheses; no field behind it has one. */
int nm_process_parse(const char *text, struct nm_process *ret)
{
    const char *begin = strchr(text, '('), *end = strrchr(text, ')');
    unsigned long long start, bytes;
    char name[NM_PROCESS_NAME_MAX / 4];
    size_t n;

    if (!begin || !end || end < begin ||
        sscanf(end + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu "
               "%llu",
               &start, &bytes) != 2)
        return -EBADMSG;
    n = SV_MIN((size_t)(end - begin) - 1, sizeof(name) - 1);
    memcpy(name, begin + 1, n);
    name[n] = '\0';
    sv_escape(ret->name, sizeof(ret->name), name);
    ret->start = start;
    ret->bytes = bytes;
    return 0;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void add(struct nm_process_sizes *s, pid_t pid, const struct nm_process *p, uint64_t before)
{
    s->n++;
    s->bytes = sum(s->bytes, p->bytes);
    if (p->start < before)
        s->aged = sum(s->aged, p->bytes);
    if (s->largest && p->bytes <= s->of_largest.bytes)
        return;
    s->largest = pid;
    s->of_largest = *p;
}

/* -ENOENT, -ESRCH: it has ended. */
static int read_one(int proc, long pid, struct nm_process *ret)
{
    _cleanup_free_ char *text = NULL;
    char path[32];
    int r;

    snprintf(path, sizeof(path), "%ld/stat", pid);
    r = sv_read_file_at(proc, path, STAT_MAX, &text, NULL);
    return r < 0 ? r : nm_process_parse(text, ret);
}

int nm_process_sizes(const char *proc, int group, uint64_t before, struct nm_process_sizes *ret)
{
    _cleanup_close_ int dir = open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC);
    _cleanup_free_ char *pids = NULL;
    struct nm_process_sizes s = { 0 };
    int r = dir < 0 ? -errno : sv_read_file_at(group, "cgroup.procs", PROCS_MAX, &pids, NULL);
    char *end;

    if (r < 0)
        return r;
    for (const char *at = pids; *at; at = end) {
        long pid = strtol(at, &end, 10);
        struct nm_process p;

        if (end == at || *end != '\n')
            return -EBADMSG;
        end++;
        r = pid > 0 ? read_one(dir, pid, &p) : 0; /* 0: one that this pid namespace does not have */
        if (r == -ENOENT || r == -ESRCH || pid <= 0)
            continue;
        if (r < 0)
            return r;
        add(&s, (pid_t)pid, &p, before);
    }
    *ret = s;
    return 0;
}

bool nm_process_sizes_over(const struct nm_process_sizes *s, uint64_t limit)
{
    return (s->bytes > limit && s->bytes - limit > limit) || s->aged > limit;
}
