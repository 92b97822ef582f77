/* `selvedge localize`: runs the NodeManager's cache with this process in the daemon's place. Never
 * uses or touches a running NodeManager's cache entries: each run's entries have separate
 * numbers. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <utlist.h>

#include "client/localize/localize.h"
#include "client/ui/progress.h"
#include "client/views/localizing.h"
#include "common/clock.h"
#include "common/exit-meaning.h"
#include "common/fd.h"
#include "common/str.h"
#include "fs/resolve.h"
#include "nodemanager/services/localization-source.h"

#define DRAW_USEC (200 * 1000)
#define EXIT_WAIT_MS 5000 /* for a localizer whose channel was closed */

/* Random numbers from 2^61 to below 2^62: used by neither a NodeManager nor another run of this
 * command. */
#define FIRST_ID (1ull << 61)

/* ---- processes ---- */

static void on_ended(struct exe_localizer *x, const struct exe_failure *f, int status,
                     void *userdata)
{
    struct localize_process *p = userdata;
    struct sv_error why = { 0 };
    char text[100];

    (void)x;
    p->ended = true;
    if (f)
        (void)sv_error_set(&why, -EIO, "container-localizer could not be started: %s%s", f->text,
                           f->status == EXE_STATUS_CGROUP
                               ? "; a running NodeManager creates it: start it first"
                               : "");
    else
        (void)sv_error_set(&why, -EIO, "%s",
                           sv_exit_text("container-localizer", status, text, sizeof(text)));
    if (!p->stopped)
        loc_cache_process_failed(p->of->cache, p->id, why.text);
}

static int start(void *userdata, uint64_t id, const struct loc_scope *scope, int *ret_fd,
                 struct sv_error *err)
{
    static const struct exe_localizer_ops ops = { .ended = on_ended };
    struct localize *l = userdata;
    struct localize_process *p = calloc(1, sizeof(*p));
    _cleanup_close_ int ours = -1, theirs = -1;
    int fds[2], r;

    if (!p)
        return sv_error_errno(err, -ENOMEM, "localizer");
    *p = (struct localize_process){ .of = l, .id = id, .ended = true };
    DL_APPEND(l->processes, p);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
        return sv_error_errno(err, -errno, "localizer channel");
    ours = fds[0];
    theirs = fds[1];
    r = exe_localizer_start(
        l->exe,
        &(struct exe_localizer_start){
            .user = scope->public_cache ? NULL : l->run_as,
            .submitter = scope->user,
            .app = scope->public_cache ? NULL : &scope->app,
            .visibility = scope->public_cache ? EXE_VISIBILITY_PUBLIC
                                              : EXE_VISIBILITY_PRIVATE | EXE_VISIBILITY_APPLICATION,
            .local_mask = l->local_mask,
            .channel = theirs,
        },
        &ops, p, &p->exe, err);
    if (r < 0)
        return r;
    p->ended = false;
    *ret_fd = sv_take_fd(&ours);
    return 0;
}

static void stop(void *userdata, uint64_t id)
{
    struct localize *l = userdata;
    struct localize_process *p;

    DL_FOREACH (l->processes, p)
        if (p->id == id)
            p->stopped = true;
}

static int on_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)s;
    (void)usec;
    *(bool *)userdata = true;
    return 0;
}

static bool all_ended(const struct localize *l)
{
    const struct localize_process *p;

    DL_FOREACH (l->processes, p)
        if (!p->ended)
            return false;
    return true;
}

/* Closing its channel makes a localizer exit after removing incomplete entries; those that do not
 * are killed. */
static void end_processes(struct localize *l)
{
    struct localize_process *p, *next;
    sd_event_source *timer = NULL;
    bool late = false;

    DL_FOREACH (l->processes, p)
        p->stopped = true;
    l->cache = loc_cache_free(l->cache);
    if (sd_event_add_time_relative(l->event, &timer, CLOCK_BOOTTIME, EXIT_WAIT_MS * 1000, 0,
                                   on_time, &late) < 0)
        late = true;
    while (!late && !all_ended(l))
        if (sd_event_run(l->event, UINT64_MAX) < 0)
            break;
    sd_event_source_disable_unref(timer);
    DL_FOREACH_SAFE (l->processes, p, next) {
        DL_DELETE(l->processes, p);
        exe_localizer_free(p->exe);
        free(p);
    }
}

/* ---- Callbacks of the cache ---- */

static int pick_dir(void *userdata, uint64_t process, int64_t size)
{
    struct localize *l = userdata;
    uint64_t best_free = 0;
    int best = -ENOSPC;

    (void)process; /* each has all directories */
    for (int i = 0; l->conf.local_dirs[i] && i < EXE_DIRS_MAX; i++) {
        struct statvfs fs;
        uint64_t space;

        if (!(l->local_mask >> i & 1) || statvfs(l->conf.local_dirs[i], &fs) < 0)
            continue;
        space = (uint64_t)fs.f_bavail * fs.f_frsize;
        if (space > best_free && (size <= 0 || space >= (uint64_t)size)) {
            best_free = space;
            best = i;
        }
    }
    return best;
}

static int describe(void *userdata, struct yarn_container_id container,
                    const struct loc_resource *resource, struct loc_fetch *f, struct sv_error *err)
{
    const struct localize *l = userdata;
    const bool is_public = resource->visibility == LOC_PUBLIC;
    const struct nm_source_user user = {
        .login = is_public ? l->login : l->options.submitter,
        .credentials = is_public ? NULL : l->options.credentials,
        .n_credentials = is_public ? 0 : l->options.n_credentials,
    };
    int r = nm_localization_source(l->conf.conf, resource, &user, f, err);

    (void)container;
    if (r >= 0 && l->options.timestamp < 0)
        f->options |= LOC_OPTION_ANY_TIME;
    return r;
}

static int credentials(void *userdata, struct yarn_container_id container,
                       const struct loc_resource *resource, int *ret, struct sv_error *err)
{
    const struct localize *l = userdata;
    int fd;

    (void)container;
    if (l->options.n_credentials == 0 || resource->visibility == LOC_PUBLIC)
        return 0;
    fd = sv_memfd_sealed("credentials", l->options.credentials, l->options.n_credentials);
    if (fd < 0)
        return sv_error_errno(err, fd, "credentials");
    *ret = fd;
    return 0;
}

/* Called before the localizer creates anything. */
static int on_started(void *userdata, const struct loc_record *r)
{
    struct localize *l = userdata;

    if (l->n_entries == LOCALIZE_URLS_MAX)
        return -E2BIG;
    l->entries[l->n_entries++] =
        (struct localize_entry){ .id = r->id, .dir_number = r->dir_number, .dir = r->dir_index };
    return 0;
}

/* Everything is deleted at the end. */
static void removed(void *userdata, const struct loc_record *r)
{
    (void)userdata;
    (void)r;
}

static struct localize_result *result_of(struct localize *l, struct yarn_container_id id)
{
    return &l->results[id.id - 1];
}

static void localized(void *userdata, struct yarn_container_id id, unsigned part, unsigned index,
                      const char *path)
{
    struct localize *l = userdata;
    struct loc_resource_progress p;

    (void)path;
    if (loc_cache_progress(l->cache, id, part, index, &p) == 0)
        result_of(l, id)->bytes = p.bytes;
}

static void over(struct localize *l, struct yarn_container_id id)
{
    result_of(l, id)->over = true;
    l->n_over++;
}

static void failed(void *userdata, struct yarn_container_id id, unsigned part, unsigned index,
                   const char *text)
{
    struct localize *l = userdata;

    (void)part;
    (void)index;
    result_of(l, id)->refused = strdup(text);
    over(l, id);
}

static void ready(void *userdata, struct yarn_container_id id, unsigned part,
                  const struct loc_counters *counters)
{
    struct localize *l = userdata;

    (void)part;
    result_of(l, id)->millis = counters->millis;
    over(l, id);
}

static int make_cache(struct localize *l, struct sv_error *err)
{
    static const struct loc_callbacks callbacks = {
        .start = start,
        .stop = stop,
        .pick_dir = pick_dir,
        .describe = describe,
        .credentials = credentials,
        .remove = removed,
        .on_started = on_started,
        .localized = localized,
        .failed = failed,
        .ready = ready,
    };
    struct loc_config k;
    uint64_t id = 0;
    int r;

    nm_localization_config(&l->conf, &k);
    k.n_local_dirs = (int)sv_strv_len(l->conf.local_dirs);
    k.cleanup_interval_ms = 0;
    if (getrandom(&id, sizeof(id), 0) != sizeof(id))
        return sv_error_errno(err, -errno, "random number");
    r = loc_cache_new(l->event, &k, &callbacks, l, &l->cache, err);
    if (r < 0)
        return r;
    r = loc_cache_reserve(l->cache, l->options.visibility, l->options.submitter, l->app,
                          FIRST_ID + id % FIRST_ID);
    return r < 0 ? sv_error_errno(err, r, "--as %s", l->options.submitter) : 0;
}

/* ---- Running ---- */

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
    (void)s;
    (void)si;
    *(bool *)userdata = true;
    return 0;
}

static int watch_signals(struct localize *l)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < SV_ARRAY_LEN(signals); i++)
        (void)sigaddset(&set, signals[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -errno;
    for (size_t i = 0; i < SV_ARRAY_LEN(signals); i++) {
        int r = sd_event_add_signal(l->event, NULL, signals[i], on_signal, &l->interrupted);

        if (r < 0)
            return r;
    }
    return 0;
}

/* Draws the progress line: the sum of all downloads. */
static void draw(const struct localize *l)
{
    struct cli_localizing_part all = { .rate = -1 };
    char text[CLI_LOCALIZING_TEXT_MAX], whole[CLI_PROGRESS_MAX];

    for (size_t i = 0; i < l->n_urls; i++) {
        const struct yarn_container_id id = { .attempt = { l->app, 1 }, .id = (int64_t)i + 1 };
        const struct localize_result *done = &l->results[i];
        struct loc_resource_progress p = { .total = -1 };

        if (done->over)
            p = (struct loc_resource_progress){ .bytes = done->bytes,
                                                .total = (int64_t)done->bytes };
        else if (loc_cache_progress(l->cache, id, 0, 0, &p) < 0)
            continue; /* not begun yet, or just ended */
        all.bytes += (int64_t)SV_MIN(p.bytes, (uint64_t)INT64_MAX / LOCALIZE_URLS_MAX);
        all.total = all.total < 0 || p.total < 0
                        ? -1
                        : all.total + SV_MIN(p.total, INT64_MAX / LOCALIZE_URLS_MAX);
        all.rate = p.rate > 0 ? SV_MAX(all.rate, INT64_C(0)) +
                                    (int64_t)SV_MIN(p.rate, (uint64_t)INT64_MAX / LOCALIZE_URLS_MAX)
                              : all.rate;
    }
    (void)snprintf(whole, sizeof(whole), "%zu of %zu fetched, %s", l->n_over, l->n_urls,
                   cli_localizing_text(&all, text));
    cli_progress_show(all.total > 0 ? (double)all.bytes / (double)all.total
                                    : (double)l->n_over / (double)l->n_urls,
                      whole);
}

static int on_draw(sd_event_source *s, uint64_t usec, void *userdata)
{
    draw(userdata);
    (void)sd_event_source_set_time(s, usec + DRAW_USEC); /* cannot fail here, ignoring */
    (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
    return 0;
}

/* Each url is a separate container's only resource, so a rejected one does not affect the
 * others. */
static void request(struct localize *l, const char *url, size_t i)
{
    const struct yarn_container_id id = { .attempt = { l->app, 1 }, .id = (int64_t)i + 1 };
    char resolved[FS_URL_MAX + 1] = "";
    const struct loc_resource resource = {
        .url = resolved,
        .timestamp = SV_MAX(l->options.timestamp, (int64_t)0),
        .size = l->options.size,
        .type = l->options.type,
        .visibility = l->options.visibility,
        .pattern = l->options.pattern,
    };
    struct sv_error err = { 0 };

    if (fs_resolve(l->conf.conf, url, resolved, &err) < 0 ||
        loc_cache_localize(l->cache, id, 0, l->options.submitter, &resource, 1, &err) < 0)
        failed(l, id, 0, 0, err.text);
}

int cli_localize_fetch(struct localize *l, char *const *urls, size_t n, struct sv_error *err)
{
    sd_event_source *timer = NULL;
    int r;

    l->results = calloc(n, sizeof(*l->results));
    if (!l->results)
        return sv_error_errno(err, -ENOMEM, "results");
    l->n_urls = n;
    r = make_cache(l, err);
    if (r >= 0 && (r = watch_signals(l)) < 0)
        (void)sv_error_errno(err, r, "signals");
    for (size_t i = 0; r >= 0 && i < n; i++)
        request(l, urls[i], i);
    if (r >= 0 && cli_progress_on()) /* out of memory: no progress line, ignoring */
        (void)sd_event_add_time_relative(l->event, &timer, CLOCK_MONOTONIC, DRAW_USEC, 0, on_draw,
                                         l);
    while (r >= 0 && !l->interrupted && l->n_over < n)
        r = sd_event_run(l->event, UINT64_MAX);
    sd_event_source_disable_unref(timer);
    end_processes(l);
    if (l->interrupted)
        return sv_error_set(err, -EINTR, "interrupted; what had arrived is deleted");
    return r;
}
