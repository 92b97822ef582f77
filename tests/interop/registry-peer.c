/* Our registry, by commands of standard input, each answered by one line:
 *
 *   registry-peer zookeeper SERVERS ROOT SESSION_MS
 *   registry-peer directory URL FOLDER
 *
 *   put PATH NAME=VALUE…   queued; "description" is no attribute, "external" is an endpoint's URL
 *   remove PATH, tree PATH, sweep PATH     queued
 *   wait                   answered when nothing waits and the back end is there
 *   state                  the counts
 *   get PATH, list PATH    as tests/interop/java/reference/RegistryPeer.java prints them */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "registry/directory.h"
#include "registry/record.h"
#include "registry/registry.h"
#include "registry/zookeeper.h"

#define LINE_MAX_BYTES 65536
#define WORDS_MAX 64

struct peer {
    sd_event *event;
    sd_event_source *look;
    struct reg_backend *backend;
    struct reg_registry *registry;
    char input[LINE_MAX_BYTES];
    size_t len;
    bool waiting, busy; /* the next command waits for an answer */
};

static void say(struct peer *p, const char *text)
{
    printf("%s\n", text);
    (void)fflush(stdout);
    p->busy = p->waiting = false;
}

static void say_status(struct peer *p, int status)
{
    char text[128];

    (void)snprintf(text, sizeof(text), status < 0 ? "error %s" : "ok", strerror(-status));
    say(p, text);
}

/* ---- Answers ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct reg_pair *)a)->name, ((const struct reg_pair *)b)->name);
}

static int put_pairs(struct sv_buf *b, const struct reg_pair *list, size_t n)
{
    int r = sv_buf_put_u8(b, '{');

    for (size_t i = 0; r == 0 && i < n; i++)
        r = sv_buf_printf(b, "%s%s=%s", i > 0 ? ", " : "", list[i].name, list[i].value);
    return r < 0 ? r : sv_buf_put_u8(b, '}');
}

static int put_endpoints(struct sv_buf *b, const struct reg_endpoint *list, size_t n)
{
    int r = sv_buf_put_str(b, " [");

    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct reg_endpoint *e = &list[i];

        r = sv_buf_printf(b, "%s%s|%s|%s|[", i > 0 ? ", " : "", e->api, e->address_type,
                          e->protocol);
        for (size_t k = 0; r == 0 && k < e->n; k++) {
            r = k > 0 ? sv_buf_put_str(b, ", ") : 0;
            if (r == 0)
                r = put_pairs(b, e->addresses[k].fields, e->addresses[k].n);
        }
        if (r == 0)
            r = sv_buf_put_u8(b, ']');
    }
    return r < 0 ? r : sv_buf_put_u8(b, ']');
}

static void on_got(int status, const void *bytes, size_t len, const char *why, void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    struct sv_error err = { 0 };
    struct reg_record r = { 0 };

    if (status < 0)
        (void)sv_error_set(&err, status, "%s", why);
    else
        status = reg_record_parse(bytes, len, a, &r, &err);
    if (status == 0) {
        qsort((void *)(uintptr_t)r.attributes, r.n_attributes, sizeof(*r.attributes), by_name);
        status = sv_buf_printf(&b, "%s ", r.description ? r.description : "null");
    }
    if (status == 0)
        status = put_pairs(&b, r.attributes, r.n_attributes);
    if (status == 0)
        status = put_endpoints(&b, r.external, r.n_external);
    if (status == 0)
        status = put_endpoints(&b, r.internal, r.n_internal);
    if (status == 0)
        status = sv_buf_put_u8(&b, 0);
    if (status < 0)
        printf("error %s: ", err.text);
    say(userdata, status < 0 ? "" : (const char *)b.data);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void on_listed(int status, char *const *names, size_t n, const char *why, void *userdata)
{
    char **sorted = calloc(n + 1, sizeof(*sorted));

    if (status < 0)
        printf("error %s", why);
    memcpy(sorted, names, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), by_text);
    for (size_t i = 0; status == 0 && i < n; i++)
        printf("%s%s", i > 0 ? " " : "", sorted[i]);
    free(sorted);
    say(userdata, "");
}

/* ---- Commands ---- */

static int put(struct peer *p, char **words, size_t n)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    struct reg_pair attributes[WORDS_MAX], uri = { REG_URI, NULL };
    struct reg_address address = { &uri, 1 };
    struct reg_endpoint web = { "http://", REG_ADDRESS_URI, REG_PROTOCOL_WEB, &address, 1 };
    struct reg_record r = { .attributes = attributes };
    int status;

    for (size_t i = 2; i < n; i++) {
        char *value = strchr(words[i], '=');

        if (!value)
            return -EINVAL;
        *value++ = '\0';
        if (strcmp(words[i], "description") == 0) {
            r.description = value;
        } else if (strcmp(words[i], "external") == 0) {
            uri.value = value;
            r.external = &web;
            r.n_external = 1;
        } else {
            attributes[r.n_attributes++] = (struct reg_pair){ words[i], value };
        }
    }
    status = reg_record_print(&r, &b);
    return status < 0 ? status : reg_put(p->registry, words[1], b.data, b.len);
}

static void say_state(struct peer *p)
{
    struct reg_counts c = reg_counts(p->registry);
    char text[256];

    (void)snprintf(text, sizeof(text), "known=%zu waiting=%zu written=%llu removed=%llu away=%d",
                   c.known, c.waiting, (unsigned long long)c.written, (unsigned long long)c.removed,
                   c.away);
    say(p, text);
}

static void command(struct peer *p, char **words, size_t n)
{
    const char *path = n > 1 ? words[1] : "";
    int status = 0;

    p->busy = true;
    if (strcmp(words[0], "wait") == 0) {
        p->waiting = true;
        return;
    }
    if (strcmp(words[0], "state") == 0) {
        say_state(p);
        return;
    }
    if (strcmp(words[0], "get") == 0)
        status = p->backend->ops->get(p->backend, path, on_got, p);
    else if (strcmp(words[0], "list") == 0)
        status = p->backend->ops->list(p->backend, path, on_listed, p);
    else if (strcmp(words[0], "put") == 0)
        say_status(p, put(p, words, n));
    else if (strcmp(words[0], "tree") == 0)
        say_status(p, reg_remove_tree(p->registry, path));
    else if (strcmp(words[0], "remove") == 0 || strcmp(words[0], "sweep") == 0) {
        if (*words[0] == 'r')
            reg_remove(p->registry, path);
        else
            reg_sweep(p->registry, path);
        say(p, "ok");
    } else {
        say(p, "unknown command");
    }
    if (status < 0)
        say_status(p, status);
}

static void run_lines(struct peer *p)
{
    char *end;

    while (!p->busy && (end = memchr(p->input, '\n', p->len))) {
        _cleanup_strv_ char **words = NULL;
        size_t n = (size_t)(end - p->input) + 1;

        *end = '\0';
        if (sv_strv_split(p->input, ' ', &words) < 0)
            _exit(1);
        memmove(p->input, p->input + n, p->len - n);
        p->len -= n;
        if (sv_strv_len(words) > 0 && sv_strv_len(words) < WORDS_MAX)
            command(p, words, sv_strv_len(words));
    }
}

static int on_input(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct peer *p = userdata;
    ssize_t n = read(fd, p->input + p->len, sizeof(p->input) - p->len);

    (void)s;
    (void)revents;
    if (n <= 0)
        return sd_event_exit(p->event, 0);
    p->len += (size_t)n;
    run_lines(p);
    return 0;
}

static int on_look(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct peer *p = userdata;

    (void)usec;
    if (p->waiting && reg_idle(p->registry) && !reg_counts(p->registry).away)
        say_state(p);
    run_lines(p);
    (void)sd_event_source_set_time_relative(s, 10000);
    return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

/* ---- Start ---- */

static int open_backend(struct peer *p, char **argv, struct sv_conf *conf, struct sv_error *err)
{
    uint64_t session = 0;

    if (strcmp(argv[1], "directory") == 0) {
        const struct reg_directory_config cfg = {
            .url = argv[2], .folder = argv[3], .program = "registry-peer", .credentials = -1
        };

        return reg_directory_open(p->event, conf, &cfg, &p->backend, err);
    }
    if (!argv[4] || sv_parse_u64(argv[4], 1, 600000, &session) < 0)
        return sv_error_set(err, -EINVAL, "SESSION_MS is missing");
    return reg_zookeeper_open(p->event,
                              &(struct reg_zookeeper_config){ argv[2], argv[3], (uint32_t)session },
                              &p->backend, err);
}

static void on_news(enum reg_news news, const char *text, void *userdata)
{
    (void)news;
    (void)userdata;
    fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
    struct reg_config cfg = { .retry_min_ms = 100, .retry_max_ms = 1000, .say = on_news };
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    static struct peer p;
    struct sv_error err = { 0 };
    int r;

    if (argc < 4 || sd_event_new(&p.event) < 0)
        return 2;
    r = open_backend(&p, argv, conf, &err);
    if (r < 0) {
        fprintf(stderr, "registry-peer: %s\n", err.text);
        return 1;
    }
    cfg.backend = p.backend;
    if (reg_new(p.event, &cfg, &p.registry) < 0 ||
        sd_event_add_io(p.event, NULL, STDIN_FILENO, EPOLLIN, on_input, &p) < 0 ||
        sd_event_add_time_relative(p.event, &p.look, CLOCK_MONOTONIC, 0, 1000, on_look, &p) < 0)
        return 1;
    say(&p, "ready");
    r = sv_loop_run(p.event);
    reg_free(p.registry);
    sd_event_source_unref(p.look);
    sd_event_unref(p.event);
    return r;
}
