/* A client and an ApplicationMaster that have a loop of their own, in which libselvedge-client
 * takes part. test-library compiles it against an installed prefix.
 *
 *   foreign-loop client LOOP FILE…    submits itself as the master and waits for its end
 *   foreign-loop master LOOP          one container
 *   foreign-loop list LOOP            lists applications
 *
 * LOOP: "sd-event", the library is given the program's sd-event; "sd-event-fd", an sd-event that
 * watches the library's descriptor; "poll", a loop around poll(). The program's own timer goes off
 * in each meanwhile: "ticked" is printed when it did between the start and the end. */
#include <errno.h>
#include <poll.h>
#include <selvedge/client.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <time.h>

#define TICK_MS 10

static selvedge_loop loop;
static sd_event *event; /* NULL: poll */
static int shared;      /* `event` is the library's, too */
static long ticks;
static int over = -1; /* then the exit code */

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void finish(int code)
{
    over = code;
    if (shared)
        selvedge_loop_quit(loop, code);
    else if (event)
        sd_event_exit(event, code);
}

/* ---- Loops ---- */

static int on_tick(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)usec;
    (void)userdata;
    ticks++;
    sd_event_source_set_time_relative(s, TICK_MS * 1000);
    return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

/* More is to be done at once: the descriptor stays readable, and the loop comes back. */
static int on_readable(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    (void)s;
    (void)fd;
    (void)events;
    (void)userdata;
    return selvedge_loop_dispatch(loop) < 0 ? -EIO : 0;
}

static int make_loop(const char *kind)
{
    int fd, r;

    if (strcmp(kind, "poll") == 0)
        return selvedge_loop_new(NULL, &loop);
    shared = strcmp(kind, "sd-event") == 0;
    r = sd_event_default(&event);
    if (r >= 0)
        r = sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC, TICK_MS * 1000, 0, on_tick,
                                       NULL);
    if (r >= 0)
        r = selvedge_loop_new(shared ? event : NULL, &loop);
    if (r < 0 || shared)
        return r;
    fd = selvedge_loop_fd(loop);
    return sd_event_add_io(event, NULL, fd, POLLIN, on_readable, NULL);
}

static int run_poll(void)
{
    struct pollfd p = { selvedge_loop_fd(loop), POLLIN, 0 };
    int64_t next = now_ms() + TICK_MS;

    while (over < 0) {
        int64_t left = next - now_ms();
        int more = poll(&p, 1, left > 0 ? (int)left : 0);

        while (more > 0 && over < 0)
            more = selvedge_loop_dispatch(loop);
        if (more < 0)
            return 3;
        if (now_ms() >= next) {
            ticks++;
            next = now_ms() + TICK_MS;
        }
    }
    return over;
}

static int run_loop(void)
{
    int code;

    if (!shared && selvedge_loop_dispatch(loop) < 0) /* handles what the calls before have begun */
        return 3;
    code = event ? sd_event_loop(event) : run_poll();
    printf("%s\n", ticks > 0 ? "ticked" : "never ticked");
    return code;
}

/* ---- Client ---- */

static selvedge_rm rm;

static void on_end(int status, const char *why, const struct selvedge_report *r, size_t n,
                   void *userdata)
{
    (void)userdata;
    printf("ended %d %s %s\n", status, n ? r->final : why, n ? r->diagnostics : "");
    finish(n && strcmp(r->final, "SUCCEEDED") == 0 ? 0 : 1);
}

static void on_submitted(int status, const char *why, const char *app, void *userdata)
{
    (void)userdata;
    printf("submitted %s%s\n", app, why);
    ticks = 0;
    if (status < 0 || selvedge_rm_wait(rm, app, on_end, NULL) < 0)
        finish(1);
}

static void on_list(int status, const char *why, const struct selvedge_report *r, size_t n,
                    void *userdata)
{
    (void)r;
    (void)userdata;
    printf("listed %d %s\n", status < 0 ? -1 : (int)n, why);
    finish(status < 0 ? 1 : 0);
}

static int submit(const char *kind, int n, char **paths)
{
    const char *env[] = { "LD_LIBRARY_PATH={{PWD}}", "LOG=<LOG_DIR>/master", NULL };
    struct selvedge_submission s = SELVEDGE_SUBMISSION;
    struct selvedge_file files[8];
    char urls[8][512], command[128];

    for (int i = 0; i < n && i < 8; i++, s.launch.n_files++) {
        snprintf(urls[i], sizeof(urls[i]), "file://%s", paths[i]);
        files[i] = (struct selvedge_file){ strrchr(paths[i], '/') + 1, urls[i], -1, 0, 0, 0 };
    }
    snprintf(command, sizeof(command),
             "chmod +x foreign-loop && exec ./foreign-loop master %s >$LOG 2>&1", kind);
    s.name = "foreign loop";
    s.memory_mb = 128;
    s.max_attempts = 1;
    s.launch.command = command;
    s.launch.files = files;
    s.launch.env = env;
    return selvedge_rm_submit(rm, &s, on_submitted, NULL);
}

/* ---- Master ---- */

static void on_registered(selvedge_am am, int64_t memory_mb, int32_t vcores, void *userdata)
{
    (void)memory_mb;
    (void)vcores;
    (void)userdata;
    ticks = 0;
    selvedge_am_want(am, 1, 128, 1, 1);
}

static void on_allocated(selvedge_am am, const struct selvedge_container *c, void *userdata)
{
    struct selvedge_launch launch = SELVEDGE_LAUNCH;

    (void)userdata;
    launch.command = "true";
    if (selvedge_am_start(am, c->id, &launch) < 0)
        selvedge_am_release(am, c->id);
}

static void on_completed(selvedge_am am, const char *id, int32_t status, const char *diagnostics,
                         void *userdata)
{
    char text[64];

    (void)id;
    (void)diagnostics;
    (void)userdata;
    snprintf(text, sizeof(text), "the container's code is %d, the master %s", (int)status,
             ticks > 0 ? "ticked" : "never ticked");
    selvedge_am_finish(am, status == 0 && ticks > 0, text);
}

static void on_finished(selvedge_am am, void *userdata)
{
    (void)am;
    (void)userdata;
    finish(0);
}

static void on_lost(selvedge_am am, const char *why, void *userdata)
{
    (void)am;
    (void)userdata;
    printf("lost: %s\n", why);
    finish(2);
}

static const struct selvedge_am_ops ops = { .struct_size = sizeof(ops),
                                            .registered = on_registered,
                                            .allocated = on_allocated,
                                            .completed = on_completed,
                                            .finished = on_finished,
                                            .lost = on_lost };

int main(int argc, char **argv)
{
    struct selvedge_error error = { 0, "" };
    selvedge_am am;
    int r;

    if (argc < 3 || make_loop(argv[2]) < 0)
        return 2;
    if (strcmp(argv[1], "master") == 0) {
        r = selvedge_am_open(loop, NULL, &ops, NULL, &am, &error);
        if (r >= 0)
            r = selvedge_am_register(am, "", -1, "");
    } else {
        r = selvedge_rm_open(loop, NULL, NULL, &rm, &error);
        if (r >= 0)
            r = strcmp(argv[1], "list") == 0 ? selvedge_rm_list(rm, NULL, 0, on_list, NULL)
                                             : submit(argv[2], argc - 3, argv + 3);
    }
    if (r < 0) {
        printf("%s: %d %s\n", argv[1], r, error.text);
        return 2;
    }
    return run_loop();
}
