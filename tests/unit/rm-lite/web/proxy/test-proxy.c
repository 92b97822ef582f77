/* rm-lite/web/proxy/proxy.c with a tracking URL whose name server does not answer: a request whose
 * browser has gone counts until its name is resolved, so that the threads that wait have a limit.
 */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <arpa/inet.h>

#include "common/str.h"
#include "tests/lib/silent-name-server.h"

#define OF_APP 16 /* AT_ONCE_OF_APP */

static int ask(struct fix *f, const struct rm_app *app)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons(f->rm->web_port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[200];
    int n =
        snprintf(text, sizeof(text),
                 "GET /proxy/%s/ HTTP/1.1\r\nHost: rm\r\nConnection: close\r\n\r\n", app->id_str);

    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(write(fd, text, (size_t)n), n);
    return fd;
}

/* The status of its answer. */
static int answered(struct fix *f, int fd)
{
    int64_t status;
    char text[4096];
    ssize_t n;

    while ((n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT)) < 0 && errno == EAGAIN)
        assert_true(sd_event_run(f->event, 1000) >= 0);
    assert_true(n > 12);
    text[n] = 0;
    close(fd);
    text[strlen("HTTP/1.1 200")] = 0;
    assert_int_equal(sv_parse_i64(text + strlen("HTTP/1.1 "), 200, 599, &status), 0);
    return (int)status;
}

static void test_silent_name_server(void **state)
{
    struct rm_app *app;
    int status;
    struct fix f;

    (void)state;
    setup(&f);
    silent_names_begin();
    app = submit(&f, true, 1);
    rm_set_text(&app->current->tracking_url, "http://" SILENT_HOST ":1/");
    app->current->registered = true;
    rm_attempt_post(app->current, RM_ATT_EV_REGISTERED, NULL);
    settle(&f);
    for (int i = 0; i < OF_APP; i++) {
        int fd = ask(&f, app);

        while (atomic_load(&silent_names.asked) <= i)
            assert_true(sd_event_run(f.event, 1000) >= 0);
        close(fd);
    }
    assert_int_equal(answered(&f, ask(&f, app)), 503);
    assert_int_equal(atomic_load(&silent_names.asked), OF_APP);
    silent_names_answer();
    do
        status = answered(&f, ask(&f, app));
    while (status == 503);
    assert_int_equal(status, 502);
    teardown(&f);
    silent_names_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_silent_name_server) };

    return cmocka_run_group_tests_name("proxy", tests, NULL, NULL);
}
