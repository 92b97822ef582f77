/* Watches the mounts of the host; see mount-watch.h. The kernel signals a change of the table by an
 * exceptional condition on its file. The contents come from root, who mounts on this host. */
#include "nodemanager/health/mount-watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"

#define QUIET_MS 500
#define LONGEST_MS 5000
#define TABLE_MAX (16 * 1024 * 1024)

struct nm_mount_watch {
    int fd;
    sd_event_source *io, *timer;
    void (*changed)(void *userdata);
    void *userdata;
    uint64_t digest;
    int64_t since_ms; /* the first unreported change; 0: none */
};

/* Field `n` (0…) of a line, as a pointer and a length. */
static size_t field(const char *s, const char *end, unsigned n, const char **ret)
{
    for (; n > 0; n--) {
        const char *blank = memchr(s, ' ', (size_t)(end - s));
        s = blank ? blank + 1 : end;
    }
    const char *blank = memchr(s, ' ', (size_t)(end - s));
    *ret = s;
    return (size_t)((blank ? blank : end) - s);
}

static bool below(const char *s, size_t n, const char *dir)
{
    size_t d = strlen(dir);
    return n >= d && memcmp(s, dir, d) == 0 && (n == d || s[d] == '/');
}

/* "36 35 98:0 /root /mount/point options … - type source options" */
static bool counts(const char *s, const char *end)
{
    static const char *const covered[] = { "/dev", "/proc", "/run", "/sys", "/tmp" };
    const char *point, *type = memmem(s, (size_t)(end - s), " - nsfs ", 8);
    size_t n = field(s, end, 4, &point);
    bool hidden = type != NULL;
    for (size_t i = 0; i < sizeof(covered) / sizeof(covered[0]); i++)
        hidden = hidden || below(point, n, covered[i]);
    return !hidden;
}

uint64_t nm_mounts_digest(const char *text, size_t len)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a: the table is root's, no adversary */
    for (const char *s = text, *stop = text + len; s < stop;) {
        const char *end = memchr(s, '\n', (size_t)(stop - s));
        end = end ? end : stop;
        for (const char *p = s; counts(s, end) && p < end; p++)
            h = (h ^ (unsigned char)*p) * 0x100000001b3u;
        s = end + 1;
    }
    return h;
}

static int read_digest(int fd, uint64_t *ret)
{
    _cleanup_free_ char *text = NULL;
    size_t n = 0, room = 0;
    for (;;) {
        if (n == room) {
            char *more = room < TABLE_MAX ? realloc(text, room = room ? room * 2 : 16384) : NULL;
            if (!more)
                return -ENOMEM;
            text = more;
        }
        ssize_t r = pread(fd, text + n, room - n, (off_t)n);
        if (r < 0 && errno != EINTR)
            return -errno;
        if (r == 0)
            break;
        n += r > 0 ? (size_t)r : 0;
    }
    *ret = nm_mounts_digest(text, n);
    return 0;
}

static int on_quiet(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_mount_watch *w = userdata;
    uint64_t digest;
    (void)s;
    (void)usec;
    w->since_ms = 0;
    int r = read_digest(w->fd, &digest);
    if (r < 0)
        sv_log_warning("/proc/self/mountinfo: %s", strerror(-r));
    if (r == 0 && digest == w->digest)
        return 0;
    if (r == 0)
        w->digest = digest;
    w->changed(w->userdata);
    return 0;
}

static int on_change(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_mount_watch *w = userdata;
    int64_t now = sv_now_ms();
    (void)s;
    (void)fd;
    (void)events;
    w->since_ms = w->since_ms ? w->since_ms : now;
    if (now - w->since_ms < LONGEST_MS)
        (void)sd_event_source_set_time_relative(w->timer, QUIET_MS * 1000);
    (void)sd_event_source_set_enabled(w->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
    return 0;
}

int nm_mount_watch_new(sd_event *event, const char *path, void (*changed)(void *userdata),
                       void *userdata, struct nm_mount_watch **ret, struct sv_error *err)
{
    struct nm_mount_watch *w = calloc(1, sizeof(*w));
    if (!w)
        return sv_error_errno(err, -ENOMEM, "mounts");
    w->changed = changed;
    w->userdata = userdata;
    w->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int r = w->fd < 0 ? -errno : read_digest(w->fd, &w->digest);
    if (r >= 0)
        r = sd_event_add_io(event, &w->io, w->fd, EPOLLPRI | EPOLLERR, on_change, w);
    if (r >= 0)
        r = sd_event_add_time_relative(event, &w->timer, CLOCK_BOOTTIME, 0, 0, on_quiet, w);
    if (r >= 0)
        r = sd_event_source_set_enabled(w->timer, SD_EVENT_OFF);
    if (r < 0) {
        (void)nm_mount_watch_free(w);
        return sv_error_errno(err, r, "%s", path);
    }
    *ret = w;
    return 0;
}

struct nm_mount_watch *nm_mount_watch_free(struct nm_mount_watch *w)
{
    if (!w)
        return NULL;
    w->io = sd_event_source_disable_unref(w->io);
    w->timer = sd_event_source_disable_unref(w->timer);
    (void)sv_close(w->fd);
    free(w);
    return NULL;
}
