/* Plays everything around a NodeManager: a ResourceManager (ResourceTracker server that knows the
 * master keys) and ApplicationMasters (clients with NMTokens and ContainerTokens it makes). Works
 * with any NodeManager that speaks Hadoop's protocol, ours or Apache's.
 *
 *     nm-driver --port RESOURCE_TRACKER_PORT [--heartbeat MS]
 *
 * One command a line on stdin, one JSON object a line on stdout (tests/lib/nm_driver.py):
 *     registered MS                   waits for a registration newer than the last command, and the
 * heartbeat that tells that its answer has come start APP FIRST COUNT USER MEM FAULT COMMAND…
 *     stop|status|signal APP FIRST COUNT [N]
 *     next VCORES EXECUTION_TYPE [GPUS]       of the containers that are started from now on
 *     view-acl LIST                   VIEW_APP of the applications from now on; "" = none
 *     resource VISIBILITY TYPE NAME PATH | resources none    what they want localized (numbers as
 * on the wire) update APP N USER MEM VCORES VERSION FAULT   updateContainer exits ends that
 * heartbeats have told so far wait MS COUNT                   until that many containers have ended
 *     rmupdate APP N USER MEM VCORES VERSION      the same in the next heartbeat
 *     queue-limit N                   in heartbeats from now on; -2: none
 *     opportunistic                   what the last heartbeat has told of such containers
 *     tokens HEX|none                 Credentials of the containers that are started from now on
 *     renewed APP HEX|none            Credentials that heartbeats tell of applications, all or none
 *     keys                            the master keys, which nobody else is to see
 *     labels accept | labels refuse WORDS     the answer to labels and attributes
 *     described                       those that were told last, and in how many heartbeats
 *     finish APP | cleanup APP N | rmsignal APP N COMMAND | resync | shutdown | roll | ack on|off |
 * largest-call APP N USER METHOD | largest-fields | largest-heartbeat APP N USER LAST FIELD |
 * largest-registration APP N USER      the largest messages (nm-driver-largest.c)
 * pause on|off hostile KIND N                  lies in the answer to the next heartbeat
 * (nm-hostile.h) heartbeat MS                 the interval of heartbeats from now on
 * bench …                                                     see nm-driver-bench.c */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "tests/integration/nodemanager/nm-driver.h"

struct driver rm = { .retry.policy = -1, .queue_limit = -2 };

int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

_Noreturn void die(const char *what, int r)
{
    fprintf(stderr, "nm-driver: %s: %s\n", what, strerror(-r));
    exit(1);
}

struct yarn_app_id app_id(int app)
{
    return (struct yarn_app_id){ .cluster_ts = CLUSTER_TS, .id = app };
}

struct yarn_container_id container_id(int app, int64_t n)
{
    return (struct yarn_container_id){ .attempt = { app_id(app), rm.containers_attempt }, .id = n };
}

/* The keys that follow, for tokens to come: nodes get them by the next heartbeat, or, of a
 * ResourceManager that has restarted, by the registration that it asks for. */
static json_t *new_keys(bool restarted)
{
    if (yarn_master_key_generate(rm.nm_key.key_id + 1, 8, &rm.nm_key) < 0 ||
        yarn_master_key_generate(rm.container_key.key_id + 1, 8, &rm.container_key) < 0)
        return json_pack("{s:s}", "error", "key");
    rm.rolled = !restarted;
    rm.resync = restarted;
    rm.id += restarted;
    am_forget_clients();
    return json_object();
}

/* The master keys that the NodeManager has been given, as hexadecimal text. */
static json_t *do_keys(void)
{
    const struct yarn_master_key *keys[] = { &rm.nm_key, &rm.container_key };
    char text[2][2 * YARN_MASTER_KEY_MAX + 1];

    for (size_t k = 0; k < SV_ARRAY_LEN(keys); k++)
        for (size_t i = 0; i < keys[k]->len; i++)
            snprintf(text[k] + 2 * i, 3, "%02x", keys[k]->bytes[i]);
    return json_pack("{s:[s,s]}", "keys", text[0], text[1]);
}

bool run_until(bool (*done)(int64_t), int64_t arg, int64_t ms)
{
    int64_t end = now_us() + ms * 1000;

    while (!done(arg)) {
        int64_t left = end - now_us();

        if (left <= 0)
            return false;
        if (sd_event_run(rm.event, (uint64_t)SV_MIN(left, 50000)) < 0)
            return false;
    }
    return true;
}

static bool has_registered(int64_t arg)
{
    (void)arg;
    return rm.registrations > rm.registrations_asked && rm.heartbeats > rm.heartbeats_before;
}
bool has_ended(int64_t count)
{
    return rm.ended >= count;
}
static bool has_beaten(int64_t count)
{
    return rm.heartbeats >= count;
}

/* app 0: of all applications */
static json_t *do_exits(int app)
{
    json_t *j = json_object();

    for (struct seen *s = rm.seen; s; s = s->hh.next) {
        if (app && s->id.attempt.app.id != app)
            continue;
        json_t *row =
            json_pack("{s:i,s:i,s:i}", "state", s->state, "exit", s->exit_code, "told", s->told);

        json_object_set_new(row, "diagnostics",
                            json_string(s->diagnostics ? s->diagnostics : "") ?: json_null());
        json_object_set_new(j, s->text, row);
    }
    return json_pack("{s:o,s:i,s:i}", "exits", j, "ended", rm.ended, "heartbeats", rm.heartbeats);
}

/* A file of this machine as it is now, or http://HOST:PORT/FILE. */
static json_t *add_resource(int visibility, int type, const char *name, const char *path)
{
    struct driver_resource *r = &rm.resources[rm.n_resources];
    struct stat st = { .st_size = -1 };

    if (rm.n_resources == SV_ARRAY_LEN(rm.resources) ||
        (strncmp(path, "http:", 5) != 0 && stat(path, &st) < 0))
        return json_pack("{s:s}", "error", "resource");
    *r = (struct driver_resource){
        .size = st.st_size, .visibility = visibility, .type = type, .scheme = "file", .host = "-"
    };
    r->timestamp = st.st_mtim.tv_sec * 1000LL + st.st_mtim.tv_nsec / 1000000;
    (void)snprintf(r->name, sizeof(r->name), "%s", name);
    (void)snprintf(r->path, sizeof(r->path), "%s", path);
    rm.n_resources++;
    return json_object();
}

static json_t *set_bytes(struct driver_bytes *b, int app, const char *hex)
{
    *b = (struct driver_bytes){ .app = app };
    for (unsigned v; b->n < sizeof(b->bytes) && sscanf(hex, "%2x", &v) == 1; hex += 2)
        b->bytes[b->n++] = (uint8_t)v;
    return json_object();
}

static json_t *on_off(const char *line, const char *word, bool *what)
{
    *what = !strcmp(line + strlen(word), " on");
    return json_object();
}

/* NULL: another command. */
static json_t *largest_command(const char *line)
{
    struct largest_load load = { 0 };
    char name[64];

    if (!strcmp(line, "largest-fields"))
        return largest_fields();
    if (sscanf(line, "largest-call %d %d %64s %63s", &load.app, &load.n, load.user, name) == 4)
        return largest_call(&load, name);
    if (sscanf(line, "largest-heartbeat %d %d %64s %d %63s", &load.app, &load.n, load.user,
               &load.app_last, name) == 5)
        return largest_heartbeat(&load, name);
    if (sscanf(line, "largest-registration %d %d %64s", &load.app, &load.n, load.user) == 3)
        return largest_registration(&load);
    return NULL;
}

/* "retry POLICY MAX INTERVAL_MS WINDOW_MS [CODE…]", of contexts to come; "retry none". */
static json_t *set_retry(const char *line)
{
    struct driver_retry *q = &rm.retry;
    long long window;
    int n = sscanf(line, "retry %d %d %d %lld %d %d %d %d", &q->policy, &q->max, &q->interval_ms,
                   &window, &q->codes[0], &q->codes[1], &q->codes[2], &q->codes[3]);

    if (n < 4)
        q->policy = -1;
    q->window_ms = n < 4 ? 0 : window;
    q->n_codes = n < 4 ? 0 : n - 4;
    return json_object();
}

static json_t *command(char *line)
{
    json_t *other_file = largest_command(line) ?: labels_command(line) ?: bench_command(line);
    int app, other, count, n, at = 0, vcores;
    long long first, mem, ms;
    char user[65], fault[129], name[64], path[256], method[64];

    if (other_file)
        return other_file;
    if (!sv_has_prefix(line, "registered")) /* not an earlier registration, possibly repeated */
        rm.registrations_asked = rm.registrations;
    if (sscanf(line, "registered %lld", &ms) == 1) {
        bool ok = run_until(has_registered, 0, ms);

        if (!ok)
            return json_pack("{s:b}", "timeout", 1);
        rm.registrations_asked = rm.registrations;
        am_forget_clients();
        return json_incref(rm.registered);
    }
    if (sscanf(line, "start %d %lld %d %64s %lld %128s %n", &app, &first, &count, user, &mem, fault,
               &at) == 6 &&
        at)
        return am_start(app, first, count, user, mem, strcmp(fault, "-") ? fault : "", line + at);
    if (sscanf(line, "stop %d %d %lld %d", &app, &other, &first, &count) == 4)
        return am_stop(app, other, first, count);
    if (sscanf(line, "status %d %d %lld %d", &app, &other, &first, &count) == 4)
        return am_status(app, other, first, count);
    at = 0;
    if (sscanf(line, "change %63s %d %d %lld %d %n", method, &app, &other, &first, &n, &at) == 5)
        return am_change(app, other, first, method, n, at ? line + at : "");
    if (sscanf(line, "localization %d %lld", &app, &first) == 2)
        return am_localization(app, first);
    if (sscanf(line, "signal %d %d %lld %d", &app, &other, &first, &n) == 4)
        return am_signal(app, other, first, n);
    rm.gpus = sv_has_prefix(line, "next ") ? 0 : rm.gpus;
    if (sscanf(line, "next %d %d %d", &rm.vcores, &rm.execution_type, &rm.gpus) >= 2)
        return json_object();
    if (sv_has_prefix(line, "view-acl ")) {
        snprintf(rm.view_acl, sizeof(rm.view_acl), "%.255s", line + strlen("view-acl "));
        return json_object();
    }
    if (sscanf(line, "resource %d %d %63s %255s", &n, &count, name, path) == 4)
        return add_resource(n, count, name, path);
    if (rm.n_resources > 0 &&
        sscanf(line, "from %15s %63s %d %255s", /* where the last one is */
               rm.resources[rm.n_resources - 1].scheme, rm.resources[rm.n_resources - 1].host,
               &rm.resources[rm.n_resources - 1].url_port,
               rm.resources[rm.n_resources - 1].path) == 4)
        return json_object();
    if (sv_has_prefix(line, "tokens "))
        return set_bytes(&rm.tokens, 0, line + strlen("tokens "));
    if (!strcmp(line, "renewed none")) { /* the node's number stays another one */
        rm.n_renewed = 0;
        return json_object();
    }
    at = 0;
    if (sscanf(line, "renewed %d %n", &app, &at) == 1 && at &&
        rm.n_renewed < SV_ARRAY_LEN(rm.renewed)) {
        rm.renewals++;
        return set_bytes(&rm.renewed[rm.n_renewed++], app, line + at);
    }
    if (sv_has_prefix(line, "retry "))
        return set_retry(line);
    if (!strcmp(line, "resources none")) {
        rm.n_resources = 0;
        return json_object();
    }
    if (sscanf(line, "update %d %lld %64s %lld %d %d %32s", &app, &first, user, &mem, &vcores, &n,
               fault) == 7)
        return am_update(app, first, user, (struct yarn_resource){ mem, vcores }, n,
                         strcmp(fault, "-") ? fault : "");
    if (sscanf(line, "rmupdate %d %lld %64s %lld %d %d", &app, &first, user, &mem, &vcores, &n) ==
        6) {
        rm.update = (struct driver_update){ app, n, first, "", { mem, vcores } };
        memcpy(rm.update.user, user, sizeof(user));
        return json_object();
    }
    if (sscanf(line, "queue-limit %d", &rm.queue_limit) == 1)
        return json_object();
    if (!strcmp(line, "opportunistic"))
        return json_pack("{s:O?}", "opportunistic", rm.opportunistic);
    if (!strcmp(line, "increased"))
        return json_pack("{s:i}", "increased", rm.increased);
    app = 0;
    if (!strcmp(line, "exits") || sscanf(line, "exits %d", &app) == 1)
        return do_exits(app);
    if (sscanf(line, "wait %lld %d", &ms, &n) == 2)
        return json_pack("{s:b,s:i}", "reached", run_until(has_ended, n, ms), "ended", rm.ended);
    if (sscanf(line, "heartbeat %lld", &ms) == 1) {
        rm.heartbeat_ms = ms;
        return json_object();
    }
    if (sscanf(line, "beats %lld %d", &ms, &n) == 2)
        return json_pack("{s:b}", "reached", run_until(has_beaten, rm.heartbeats + n, ms));
    if (sscanf(line, "finish %d", &app) == 1 && rm.n_finish < 64 && app > 0 && app < 4096) {
        rm.finished[app] = true;
        rm.finish[rm.n_finish++] = app_id(app);
        return json_object();
    }
    if (sscanf(line, "cleanup %d %lld", &app, &first) == 2 && rm.n_cleanup < 64) {
        rm.cleanup[rm.n_cleanup++] = container_id(app, first);
        return json_object();
    }
    if (sscanf(line, "rmsignal %d %lld %d", &app, &first, &n) == 3) {
        rm.signal_id = container_id(app, first);
        rm.signal_command = n;
        return json_object();
    }
    if (!strcmp(line, "roll") || !strcmp(line, "restarted"))
        return new_keys(!strcmp(line, "restarted"));
    if (sscanf(line, "attempt %d %d", &rm.attempt, &rm.containers_attempt) == 2)
        return json_object();
    if (sscanf(line, "hostile %15s %d", rm.lie, &rm.lies) == 2)
        return json_object();
    if (!strcmp(line, "keys"))
        return do_keys();
    if (sv_has_prefix(line, "refuse "))
        return on_off(line, "refuse", &rm.refuse);
    if (sv_has_prefix(line, "shutdown "))
        return on_off(line, "shutdown", &rm.shutdown);
    if (sscanf(line, "version %15s", rm.version) == 1)
        return json_object();
    if (sv_has_prefix(line, "ack "))
        return on_off(line, "ack", &rm.ack);
    if (sv_has_prefix(line, "pause ")) {
        bool on;
        json_t *j = on_off(line, "pause", &on);

        rm_serve(!on);
        return j;
    }
    if (!strcmp(line, "resync"))
        rm.resync = true;
    else if (!strcmp(line, "shutdown"))
        rm.shutdown = true;
    else if (!strcmp(line, "unregistered"))
        return json_pack("{s:b}", "unregistered", rm.unregistered);
    else
        return json_pack("{s:s}", "error", "unknown command");
    return json_object();
}

static char in[1 << 20];
static size_t in_len;
static bool in_closed;

static int on_stdin(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    ssize_t n = in_len < sizeof(in) ? read(fd, in + in_len, sizeof(in) - in_len) : -1;

    (void)events;
    (void)userdata;
    if (n > 0) {
        in_len += (size_t)n;
        return 0;
    }
    in_closed = true;
    return sd_event_source_set_enabled(s, SD_EVENT_OFF);
}

/* Commands run outside of callbacks, because they run the loop themselves. */
static void run_commands(void)
{
    static char line[sizeof(in)];
    char *end;

    while ((end = memchr(in, '\n', in_len))) {
        size_t used = (size_t)(end - in) + 1;
        json_t *j;

        memcpy(line, in, used - 1);
        line[used - 1] = 0;
        memmove(in, in + used, in_len - used);
        in_len -= used;
        j = command(line);
        if (!j || json_dumpf(j, stdout, JSON_COMPACT) < 0)
            fputs("{\"error\":\"no JSON\"}", stdout);
        fputc('\n', stdout);
        fflush(stdout);
        json_decref(j);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "port", required_argument, NULL, 'p' },
        { "heartbeat", required_argument, NULL, 'b' },
        { NULL, 0, NULL, 0 },
    };
    uint64_t v;
    int o, r;

    rm.heartbeat_ms = 1000;
    rm.ack = true;
    memcpy(rm.version, "3.4.2", sizeof("3.4.2"));
    rm.vcores = rm.execution_type = rm.attempt = rm.containers_attempt = 1;
    rm.id = CLUSTER_TS + 1000 * getpid(); /* as its keys, not another driver's */
    while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if ((o != 'p' && o != 'b') || sv_parse_u64(optarg, 1, 65535, &v) < 0)
            return 2;
        if (o == 'p')
            rm.port = (uint16_t)v;
        else
            rm.heartbeat_ms = (int64_t)v;
    }
    signal(SIGPIPE, SIG_IGN);
    sv_log_init("nm-driver");
    r = sd_event_default(&rm.event);
    if (r >= 0)
        r = yarn_master_key_generate(100 * getpid() + 1, 8, &rm.nm_key);
    if (r >= 0)
        r = yarn_master_key_generate(100 * getpid() + 1, 8, &rm.container_key);
    if (r >= 0)
        r = sd_event_add_io(rm.event, NULL, STDIN_FILENO, EPOLLIN, on_stdin, NULL);
    if (r < 0)
        die("start", r);
    rm_serve(true);
    while (!in_closed && sd_event_run(rm.event, UINT64_MAX) >= 0)
        run_commands();
    return 0;
}
