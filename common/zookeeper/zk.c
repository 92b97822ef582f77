/* See zk.h. The library says which descriptor and timeout it waits for, and is told when they are
 * ready. It opens and closes sockets behind the loop's back, and a new one may have the number of
 * the old: the loop watches a duplicate, and compares the sockets' inodes. */
#include "common/zookeeper/zk-internal.h"

#include <errno.h>

#if SV_ZK_HEADERS

#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "common/zookeeper/zk-servers.h"

#define WAIT_MIN_MS 50         /* between two attempts to connect that fail at once */
#define LOOK_UP_EVERY_MS 30000 /* names, while there is no connection */
#define NO_NAMES_MS 1000
#define ANSWERS_TURN 256 /* in one turn of the loop */

static void arm(struct sv_zk *z, uint64_t usec)
{
    (void)sd_event_source_set_time_relative(z->timer, usec);
    (void)sd_event_source_set_enabled(z->timer, SD_EVENT_ONESHOT); /* exists, ignoring */
}

void sv_zk_wake(struct sv_zk *z)
{
    if (!z->inside)
        arm(z, 0);
}

/* The library's texts, which name its own functions. */
static void on_log(const char *text)
{
    sv_log_debug("ZooKeeper: %s", text);
}

/* States are read after each call instead. */
static void on_watch(zhandle_t *handle, int type, int state, const char *path, void *userdata)
{
    (void)handle;
    (void)type;
    (void)state;
    (void)path;
    (void)userdata;
}

/* ---- The descriptor ---- */

static int on_io(sd_event_source *s, int fd, uint32_t revents, void *userdata);

static void unwatch(struct sv_zk *z)
{
    z->io = sd_event_source_disable_unref(z->io);
    z->socket = 0;
}

static int watch_new(struct sv_zk *z, int fd, uint32_t events, ino_t inode)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3), r;

    unwatch(z);
    if (own < 0)
        return -errno;
    r = sd_event_add_io(z->event, &z->io, own, events, on_io, z);
    if (r < 0) {
        (void)sv_close(own);
        return r;
    }
    (void)sd_event_source_set_io_fd_own(z->io, true); /* it exists, ignoring */
    z->socket = inode;
    return 0;
}

static void watch(struct sv_zk *z, int fd, int interest)
{
    uint32_t events = (interest & *z->lib->read ? (uint32_t)EPOLLIN : 0) |
                      (interest & *z->lib->write ? (uint32_t)EPOLLOUT : 0);
    struct stat st;
    int r = 0;

    if (fd < 0 || fstat(fd, &st) < 0)
        unwatch(z);
    else if (!z->io || st.st_ino != z->socket)
        r = watch_new(z, fd, events, st.st_ino);
    else
        r = sd_event_source_set_io_events(z->io, events);
    if (r < 0)
        sv_log_debug("ZooKeeper: cannot watch its socket: %s, the timeout looks again",
                     strerror(-r));
}

/* ---- The session ---- */

static void say(struct sv_zk *z, enum sv_zk_event event)
{
    if (z->cfg.event)
        z->cfg.event(event, z->cfg.userdata);
}

/* The library would wait for the server's farewell: without a connection it does not. */
static void close_session(struct sv_zk *z)
{
    if (!z->handle)
        return;
    if (z->io)
        (void)shutdown(sd_event_source_get_io_fd(z->io), SHUT_RDWR); /* lost is fine, ignoring */
    unwatch(z);
    (void)z->lib->zookeeper_close(SV_TAKE(z->handle)); /* its memory is freed, ignoring */
}

static void open_session(struct sv_zk *z)
{
    z->handle =
        z->lib->zookeeper_init2(z->addresses, on_watch, (int)z->cfg.session_ms, NULL, z, 0, on_log);
    if (!z->handle)
        sv_log_debug("ZooKeeper: no session: %s", strerror(errno));
}

static void look_up(struct sv_zk *z)
{
    int64_t pause = z->addresses ? LOOK_UP_EVERY_MS : NO_NAMES_MS;

    if (z->looking_up || (z->looked_up_ms > 0 && sv_now_ms() - z->looked_up_ms < pause))
        return;
    z->looked_up_ms = sv_now_ms();
    z->looking_up = sv_zk_servers_look_up(z->servers) == 0;
}

/* Tells what changed. The session may end in it, and is made anew. */
static void note_state(struct sv_zk *z)
{
    bool over = z->handle && z->lib->is_unrecoverable(z->handle) != ZOK;
    bool up = z->handle && !over && z->lib->zoo_state(z->handle) == *z->lib->connected;

    if (up != z->up) {
        z->up = up;
        if (!over)
            say(z, up ? SV_ZK_UP : SV_ZK_DOWN);
    }
    if (!over)
        return;
    close_session(z);
    say(z, SV_ZK_EXPIRED);
}

/* Callbacks of requests run in the library's functions, and may make more requests. */
static void drive(struct sv_zk *z)
{
    struct timeval wait = { 0 };
    int fd = -1, interest = 0;

    z->inside = true;
    if (!z->handle && z->addresses)
        open_session(z);
    if (z->handle && z->lib->zookeeper_interest(z->handle, &fd, &interest, &wait) != ZOK) {
        fd = -1;
        wait = (struct timeval){ .tv_usec = WAIT_MIN_MS * 1000 };
    }
    note_state(z);
    z->inside = false;
    watch(z, z->handle ? fd : -1, interest);
    if (!z->up)
        look_up(z);
    if (!z->handle)
        arm(z, z->addresses ? WAIT_MIN_MS * 1000 : NO_NAMES_MS * 1000);
    else
        arm(z, SV_MAX((uint64_t)wait.tv_sec * 1000000 + (uint64_t)wait.tv_usec,
                      fd < 0 ? WAIT_MIN_MS * 1000u : 1000u));
}

static void take_answers(struct sv_zk *z, int events)
{
    int r = ZOK;

    z->inside = true;
    for (unsigned i = 0; z->handle && r == ZOK && i < ANSWERS_TURN; i++, events = *z->lib->read)
        r = z->lib->zookeeper_process(z->handle, events);
    drive(z);
}

static int on_io(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct sv_zk *z = userdata;
    uint32_t broken = revents & (EPOLLERR | EPOLLHUP);
    int events = (revents & EPOLLIN || broken ? *z->lib->read : 0) |
                 (revents & EPOLLOUT || broken ? *z->lib->write : 0);

    (void)s;
    (void)fd;
    take_answers(z, events);
    return 0;
}

static int on_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    (void)usec;
    drive(userdata);
    return 0;
}

static void on_found(const char *addresses, void *userdata)
{
    struct sv_zk *z = userdata;
    char *copy = addresses && !sv_streq(addresses, z->addresses) ? strdup(addresses) : NULL;

    z->looking_up = false;
    if (!copy)
        return; /* unchanged, none or no memory: looked up again */
    free(z->addresses);
    z->addresses = copy;
    if (z->handle)
        (void)z->lib->zoo_set_servers(z->handle, copy); /* the old ones stay, ignoring */
    arm(z, 0);
}

/* ---- Life ---- */

void sv_zk_breathe(struct sv_zk *z)
{
    if (z->up && !z->inside)
        take_answers(z, *z->lib->read | *z->lib->write);
}

bool sv_zk_connected(const struct sv_zk *z)
{
    return z->up;
}

uint32_t sv_zk_session_ms(const struct sv_zk *z)
{
    int ms = z->up ? z->lib->zoo_recv_timeout(z->handle) : 0;

    return ms > 0 ? (uint32_t)ms : 0;
}

static int start(struct sv_zk *z, sd_event *event, const struct sv_zk_config *cfg,
                 struct sv_error *err)
{
    int r = sv_zk_library(&z->lib, err);

    if (r == 0)
        r = sv_zk_servers_new(event, cfg->servers, on_found, z, &z->servers, err);
    if (r < 0)
        return r;
    r = sd_event_add_time_relative(event, &z->timer, CLOCK_MONOTONIC, 0, 1000, on_time, z);
    return r < 0 ? sv_error_errno(err, r, "ZooKeeper") : 0;
}

int sv_zk_new(sd_event *event, const struct sv_zk_config *cfg, struct sv_zk **ret,
              struct sv_error *err)
{
    struct sv_zk *z = calloc(1, sizeof(*z));
    int r;

    if (!z)
        return sv_error_errno(err, -ENOMEM, "ZooKeeper");
    z->event = sd_event_ref(event);
    z->cfg = *cfg;
    z->cfg.servers = NULL;
    r = start(z, event, cfg, err);
    if (r < 0) {
        sv_zk_free(z);
        return r;
    }
    *ret = z;
    return 0;
}

static struct sv_zk *close_all(struct sv_zk *z, bool says)
{
    if (!z)
        return NULL;
    says = says && z->up;
    z->closing = true;
    z->up = false;
    if (says) {
        unwatch(z);
        (void)z->lib->zookeeper_close(SV_TAKE(z->handle)); /* else it ends by itself, ignoring */
    }
    close_session(z);
    sd_event_source_disable_unref(z->timer);
    sv_zk_servers_free(z->servers);
    free(z->addresses);
    sd_event_unref(z->event);
    free(z);
    return NULL;
}

struct sv_zk *sv_zk_free(struct sv_zk *z)
{
    return close_all(z, false);
}

struct sv_zk *sv_zk_end(struct sv_zk *z)
{
    return close_all(z, true);
}

#else

int sv_zk_new(sd_event *event, const struct sv_zk_config *cfg, struct sv_zk **ret,
              struct sv_error *err)
{
    (void)event;
    (void)cfg;
    (void)ret;
    return sv_error_set(err, -ELIBACC, "built without ZooKeeper's C client");
}

struct sv_zk *sv_zk_free(struct sv_zk *z)
{
    (void)z;
    return NULL;
}

struct sv_zk *sv_zk_end(struct sv_zk *z)
{
    (void)z;
    return NULL;
}

void sv_zk_breathe(struct sv_zk *z)
{
    (void)z;
}

bool sv_zk_connected(const struct sv_zk *z)
{
    (void)z;
    return false;
}

uint32_t sv_zk_session_ms(const struct sv_zk *z)
{
    (void)z;
    return 0;
}

#endif
