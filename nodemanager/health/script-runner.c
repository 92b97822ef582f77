/* See script-runner.h. */
#include "nodemanager/health/script-runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cgroups/child-group.h"
#include "common/buf.h"
#include "common/child.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"

#define PART 16384
#define OPEN_FILES 1024
#define LINGER_RETRY_MS 100
#define END_MS 1000 /* for a killed program at the daemon's end */

static const char *const variables[] = {
    "PATH=",
    "LANG=",
    "LC_ALL=",
    "TZ=",
    "USER=",
    "HOME=",
    "JAVA_HOME=",
    "LD_LIBRARY_PATH=",
    "HADOOP_HOME=",
    "HADOOP_COMMON_HOME=",
    "HADOOP_HDFS_HOME=",
    "HADOOP_YARN_HOME=",
    "HADOOP_CONF_DIR=",
    "HADOOP_LOG_DIR=",
    "YARN_CONF_DIR=",
    "YARN_LOG_DIR=",
};

struct nm_runner {
    struct nm_runner_conf conf;
    sd_event *event;
    struct cg_child_group group;
    enum {
        RUN_WAITS, /* for its time */
        RUN_GOES_ON,
        RUN_KILLED, /* its result is told; it may take long to end */
    } state;
    struct sv_child child;
    int out, failed; /* pipes */
    int64_t started_ms;
    sd_event_source *timer, *exited, *output;
    struct sv_buf text;
};

static void set_timer(struct nm_runner *r, int64_t ms)
{
    (void)sd_event_source_set_time_relative(r->timer, (uint64_t)SV_MAX(ms, INT64_C(0)) * 1000);
    (void)sd_event_source_set_enabled(r->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

static void wait_for_next(struct nm_runner *r)
{
    r->state = RUN_WAITS;
    if (r->conf.interval_ms >= 0)
        set_timer(r, r->started_ms + r->conf.interval_ms - sv_now_ms());
    else
        (void)sd_event_source_set_enabled(r->timer, SD_EVENT_OFF); /* ours, ignoring */
}

static void kill_all(struct nm_runner *r)
{
    cg_child_group_kill(&r->group);
    sv_child_kill(&r->child);
}

static void close_run(struct nm_runner *r)
{
    r->exited = sd_event_source_disable_unref(r->exited);
    r->output = sd_event_source_disable_unref(r->output);
    r->child.pidfd = sv_close(r->child.pidfd);
    r->out = sv_close(r->out);
    r->failed = sv_close(r->failed);
    r->child = SV_NO_CHILD;
    sv_buf_free(&r->text);
}

/* Tells the result; the process is yet to be reaped. */
static void give_up(struct nm_runner *r, const char *why)
{
    r->state = RUN_KILLED;
    (void)sd_event_source_set_enabled(r->timer, SD_EVENT_OFF); /* ours, ignoring */
    r->output = sd_event_source_disable_unref(r->output);
    kill_all(r);
    r->conf.ended(NULL, why, r->conf.userdata);
}

/* ---- its output and its end -------------------------------------------------------------------*/

/* 1: more may be there; 0: nothing now; -EMSGSIZE: too much; -EPIPE: nothing ever. */
static int read_part(struct nm_runner *r)
{
    char part[PART];
    ssize_t n = read(r->out, part, sizeof(part));

    if (n > 0)
        return sv_buf_put(&r->text, part, (size_t)n) < 0 || r->text.len > NM_RUN_OUTPUT_MAX
                   ? -EMSGSIZE
                   : 1;
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -EPIPE;
}

static void too_much(struct nm_runner *r)
{
    char why[64];

    snprintf(why, sizeof(why), "it printed more than %d bytes", NM_RUN_OUTPUT_MAX);
    give_up(r, why);
}

static int on_output(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_runner *r = userdata;
    int result = read_part(r);

    (void)source, (void)fd, (void)revents;
    if (result == -EMSGSIZE)
        too_much(r);
    else if (result < 0)
        r->output = sd_event_source_disable_unref(r->output);
    return 0;
}

static void tell(struct nm_runner *r, struct sv_child_end end)
{
    char why[64];
    int error = 0;

    if (read(r->failed, &error, sizeof(error)) == (ssize_t)sizeof(error)) {
        snprintf(why, sizeof(why), "cannot be started: %s", strerror(error));
    } else if (end.how == SV_CHILD_EXITED && end.number == 0) {
        if (sv_buf_put(&r->text, "", 1) >= 0) {
            r->conf.ended((const char *)r->text.data, NULL, r->conf.userdata);
            return;
        }
        snprintf(why, sizeof(why), "out of memory");
    } else {
        (void)sv_child_end_text(end, why, sizeof(why));
    }
    r->conf.ended(NULL, why, r->conf.userdata);
}

/* Processes that it has left behind end with it: they could hold its pipe for ever. The buffer's
 * bound is that of this loop. */
static int on_exited(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_runner *r = userdata;
    struct sv_child_end end;
    int result = 1;

    (void)source, (void)fd, (void)revents;
    kill_all(r);
    while (r->state == RUN_GOES_ON && result > 0)
        result = read_part(r);
    if (result == -EMSGSIZE)
        too_much(r);
    end = sv_child_reap(&r->child);
    if (r->state == RUN_GOES_ON)
        tell(r, end);
    close_run(r);
    wait_for_next(r);
    return 0;
}

/* ---- its start ------------------------------------------------------------------------------- */

static int start_child(struct nm_runner *r, int out, int failed, struct sv_error *err)
{
    _cleanup_free_ char **environment = sv_child_environment(variables, SV_ARRAY_LEN(variables));
    _cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct sv_child_limit limits[] = { { RLIMIT_NOFILE, OPEN_FILES } };
    const int fds[] = { null, out, null }; /* as in Hadoop, stderr does not count */

    if (!environment || null < 0)
        return sv_error_errno(err, environment ? -errno : -ENOMEM, "/dev/null");
    return sv_child_start(&(struct sv_child_spec){ .argv = r->conf.argv,
                                                   .environment = environment,
                                                   .fds = fds,
                                                   .n_fds = SV_ARRAY_LEN(fds),
                                                   .limits = limits,
                                                   .n_limits = SV_ARRAY_LEN(limits),
                                                   .procs = r->group.procs,
                                                   .failed = failed },
                          &r->child, err);
}

static int start(struct nm_runner *r, struct sv_error *err)
{
    int out[2], failed[2], result;

    if (pipe2(out, O_CLOEXEC) < 0)
        return sv_error_errno(err, -errno, "pipe");
    r->out = out[0];
    _cleanup_close_ int out_theirs = out[1];
    if (pipe2(failed, O_CLOEXEC) < 0)
        return sv_error_errno(err, -errno, "pipe");
    r->failed = failed[0];
    _cleanup_close_ int failed_theirs = failed[1];
    if (fcntl(r->out, F_SETFL, O_NONBLOCK) < 0 || fcntl(r->failed, F_SETFL, O_NONBLOCK) < 0)
        return sv_error_errno(err, -errno, "pipe");
    r->text = SV_BUF_INIT(NM_RUN_OUTPUT_MAX + PART);
    result = start_child(r, out_theirs, failed_theirs, err);
    if (result < 0)
        return result;
    result = sd_event_add_io(r->event, &r->exited, r->child.pidfd, EPOLLIN, on_exited, r);
    if (result >= 0)
        result = sd_event_add_io(r->event, &r->output, r->out, EPOLLIN, on_output, r);
    if (result >= 0) /* a program that prints without end comes behind everything else */
        result = sd_event_source_set_priority(r->output, SD_EVENT_PRIORITY_IDLE);
    return result < 0 ? sv_error_errno(err, result, "watching the process") : 0;
}

static void run(struct nm_runner *r)
{
    struct sv_error err = { 0 };

    /* Killed processes of the last run may wait for a disk: another run would only add to them. */
    if (r->group.dir >= 0 && cg_child_group_populated(&r->group) > 0) {
        kill_all(r);
        set_timer(r, LINGER_RETRY_MS);
        return;
    }
    r->started_ms = sv_now_ms();
    if (start(r, &err) < 0) {
        kill_all(r);
        close_run(r);
        wait_for_next(r);
        r->conf.ended(NULL, err.text, r->conf.userdata);
        return;
    }
    r->state = RUN_GOES_ON;
    set_timer(r, r->conf.timeout_ms);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_runner *r = userdata;
    char why[64];

    (void)source, (void)usec;
    if (r->state == RUN_WAITS) {
        run(r);
    } else if (r->state == RUN_GOES_ON) {
        snprintf(why, sizeof(why), "it did not end within %lld ms", (long long)r->conf.timeout_ms);
        give_up(r, why);
    }
    return 0;
}

int nm_runner_new(sd_event *event, const struct nm_runner_conf *conf, struct nm_runner **ret,
                  struct sv_error *err)
{
    struct nm_runner *r = calloc(1, sizeof(*r));
    struct sv_error why = { 0 };
    int result;

    if (!r)
        return sv_error_errno(err, -ENOMEM, "%s", conf->name);
    *r = (struct nm_runner){ .conf = *conf,
                             .event = event,
                             .group = CG_NO_CHILD_GROUP,
                             .child = SV_NO_CHILD,
                             .out = -1,
                             .failed = -1 };
    if (cg_child_group_open(conf->name, &r->group, &why) < 0)
        sv_log_notice("%s script has no cgroup of its own: %s; what leaves its process group is "
                      "not ended with it (Delegate= of the unit)",
                      conf->name, why.text);
    result = sd_event_add_time_relative(event, &r->timer, CLOCK_BOOTTIME, 0, 0, on_timer, r);
    if (result < 0) {
        nm_runner_free(r);
        return sv_error_errno(err, result, "%s", conf->name);
    }
    *ret = r;
    return 0;
}

struct nm_runner *nm_runner_free(struct nm_runner *r)
{
    struct pollfd ended;

    if (!r)
        return NULL;
    kill_all(r);
    ended = (struct pollfd){ .fd = r->child.pidfd, .events = POLLIN };
    if (r->child.pid && poll(&ended, 1, END_MS) > 0) /* the loop has ended */
        (void)sv_child_reap(&r->child);              /* how does not matter, ignoring */
    close_run(r);
    sd_event_source_disable_unref(r->timer);
    cg_child_group_close(&r->group);
    free(r);
    return NULL;
}
