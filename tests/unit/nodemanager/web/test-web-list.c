/* web/web-list.c over a real socket: a thousand objects in turns, what is filtered out or for
 * others, clients that do not read or leave, the bound on lists. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "nodemanager/core/context.h"
#include "nodemanager/web/web-list.h"

static struct nm_context ctx;
static unsigned lists;
static struct nm_web web = { .ctx = &ctx, .lists = &lists };
static struct sv_http *http;
static size_t objects, entries, of_event, most_of_event;
static int64_t entry_ms; /* time of one entry */
static bool none;        /* nothing is for the caller */
static bool xml;
static size_t entry_bytes;

static json_t *entry(const struct nm_context *c, const struct nm_web_caller *who,
                     const struct nm_web_filter *f, const char *id)
{
    static char text[100000];

    assert_ptr_equal(c, &ctx);
    assert_true(who->sees_all);
    assert_string_equal(f->user, "ann");
    entries++;
    of_event++;
    most_of_event = SV_MAX(most_of_event, of_event);
    if (entry_ms)
        sv_clock_set_test(sv_now_ms() + entry_ms, 0);
    memset(text, 'x', entry_bytes);
    text[entry_bytes] = 0;
    return none ? NULL : json_pack("{s:s,s:s}", "id", id, "text", text);
}

static int handler(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    static const struct nm_web_list_kind kind = { "things", "thing", entry };
    static const struct nm_web_filter filter = { .user = "ann" };
    static const struct nm_web_caller who = { .sees_all = true };
    nm_web_id *ids = calloc(objects + 1, sizeof(*ids));

    (void)userdata;
    ret->xml = xml;
    for (size_t i = 0; i < objects; i++)
        snprintf(ids[i], sizeof(*ids), "thing_%zu", i);
    return nm_web_list(&web, &who, &kind, &filter,
                       (struct nm_web_objects){ .ids = ids, .n = objects }, req, ret);
}

static int set_up(void **state)
{
    struct sv_error err;

    (void)state;
    entries = most_of_event = entry_bytes = 0;
    entry_ms = 0;
    none = xml = false;
    sv_clock_set_test(1000000, 0);
    return sd_event_new(&ctx.event) < 0
               ? -1
               : sv_http_new(ctx.event, "127.0.0.1", 0, handler, NULL, &http, &err);
}

static int tear_down(void **state)
{
    (void)state;
    http = sv_http_free(http);
    assert_int_equal(lists, 0);
    ctx.event = sd_event_unref(ctx.event);
    sv_clock_reset();
    return 0;
}

static int ask(void)
{
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, request, sizeof(request) - 1, 0), sizeof(request) - 1);
    return fd;
}

static void run_event(void)
{
    of_event = 0;
    assert_true(sd_event_run(ctx.event, 100000) >= 0);
}

/* The whole answer, until the server closes. */
static const char *answer_of(int fd)
{
    static char text[1 << 20];
    size_t n = 0;

    for (;;) {
        ssize_t got = recv(fd, text + n, sizeof(text) - n - 1, MSG_DONTWAIT);

        if (got == 0)
            break;
        n += got > 0 ? (size_t)got : 0;
        run_event();
    }
    text[n] = 0;
    sv_close(fd);
    return text;
}

static size_t count_things(const char *answer)
{
    const char *body = strstr(answer, "\r\n\r\n");
    json_t *all = body ? json_loads(body + 4, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const json_t *list = json_object_get(json_object_get(all, "things"), "thing");
    size_t n = json_array_size(list);

    assert_non_null(strstr(answer, " 200 "));
    assert_non_null(all);
    assert_int_equal(json_object_size(json_object_get(all, "things")), n ? 1 : 0);
    json_decref(all);
    return n;
}

static void turns(void **state)
{
    (void)state;
    objects = 1000;
    assert_int_equal(count_things(answer_of(ask())), 1000);
    assert_int_equal(most_of_event, NM_WEB_LIST_TURN);
    entry_ms = 3; /* longer than a turn */
    objects = 20;
    most_of_event = 0;
    assert_int_equal(count_things(answer_of(ask())), 20);
    assert_int_equal(most_of_event, 1);
}

static void short_and_empty(void **state)
{
    static const size_t sizes[] = { 0, 1, NM_WEB_LIST_TURN, NM_WEB_LIST_TURN + 1 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(sizes); i++) {
        objects = sizes[i];
        none = false;
        assert_int_equal(count_things(answer_of(ask())), sizes[i]);
        none = true;
        assert_int_equal(count_things(answer_of(ask())), 0);
    }
}

static size_t count_elements(const char *answer, size_t most)
{
    static const char head[] = "\r\n\r\n<?xml version=\"1.0\" encoding=\"UTF-8\" "
                               "standalone=\"yes\"?><things>";
    const char *p = strstr(answer, head);
    size_t n = 0;

    assert_non_null(strstr(answer, "application/xml"));
    assert_non_null(p);
    for (p += strlen(head); n <= most && sv_has_prefix(p, "<thing><id>thing_"); n++)
        p = strstr(p, "</text></thing>") + strlen("</text></thing>");
    assert_string_equal(p, "</things>");
    return n;
}

static void as_xml(void **state)
{
    static const size_t sizes[] = { 0, 1, NM_WEB_LIST_TURN, NM_WEB_LIST_TURN + 1, 500 };

    (void)state;
    xml = true;
    for (size_t i = 0; i < SV_ARRAY_LEN(sizes); i++) {
        objects = sizes[i];
        assert_int_equal(count_elements(answer_of(ask()), objects), objects);
    }
    none = true;
    assert_int_equal(count_elements(answer_of(ask()), 0), 0);
}

/* Clients that do not read hold a bounded number of lists; they leave, and all is free. */
static void slow_clients(void **state)
{
    int fds[NM_WEB_LISTS_MAX];
    const char *text;

    (void)state;
    objects = 2000;
    entry_bytes = 50000; /* more than the kernel buffers, in all */
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++) {
        fds[i] = ask();
        while (lists <= i)
            run_event();
    }
    text = answer_of(ask());
    assert_non_null(strstr(text, " 503 "));
    assert_non_null(strstr(text, "32 long lists are being written"));
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++)
        sv_close(fds[i]);
    while (lists)
        run_event();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(turns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(short_and_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(as_xml, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slow_clients, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("web-list", tests, NULL, NULL);
}
