/* dbus/bus-auth.c over a socket pair, whose other side is the bus and polkit: questions of one
 * account by many connections; a caller that leaves before polkit's yes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/str.h"
#include "nodemanager/dbus/bus-auth.h"

static sd_event *event;
static sd_bus *ours, *theirs;
static struct nm_bus_auth *auth;
static unsigned asked, owners_asked, decided;
static const char *refusal;
static int yes, there;

static void on_decided(sd_bus_message *m, const char *why, void *userdata)
{
    (void)m;
    (void)userdata;
    decided++;
    refusal = why;
}

static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
    (void)userdata;
    (void)error;
    if (sv_streq(sd_bus_message_get_member(m), "CheckAuthorization")) {
        asked++;
        return yes < 0 ? 1 : sd_bus_reply_method_return(m, "(bba{ss})", yes, 0, 0);
    }
    assert_string_equal(sd_bus_message_get_member(m), "NameHasOwner");
    owners_asked++;
    return sd_bus_reply_method_return(m, "b", there);
}

static int set_up(void **state)
{
    sd_id128_t id;
    int fds[2];

    (void)state;
    asked = owners_asked = decided = 0;
    refusal = NULL;
    yes = there = 1;
    if (sd_event_new(&event) < 0 || sd_id128_randomize(&id) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0 ||
        sd_bus_new(&theirs) < 0 || sd_bus_set_fd(theirs, fds[0], fds[0]) < 0 ||
        sd_bus_set_server(theirs, 1, id) < 0 || sd_bus_set_anonymous(theirs, 1) < 0 ||
        sd_bus_new(&ours) < 0 || sd_bus_set_fd(ours, fds[1], fds[1]) < 0 ||
        sd_bus_set_anonymous(ours, 1) < 0 || sd_bus_start(theirs) < 0 || sd_bus_start(ours) < 0 ||
        sd_bus_attach_event(theirs, event, 0) < 0 || sd_bus_attach_event(ours, event, 0) < 0 ||
        sd_bus_add_filter(theirs, NULL, on_message, NULL) < 0)
        return -1;
    auth = nm_bus_auth_new(on_decided, NULL);
    return auth ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    auth = nm_bus_auth_free(auth);
    ours = sd_bus_close_unref(ours);
    theirs = sd_bus_close_unref(theirs);
    event = sd_event_unref(event);
    return 0;
}

/* A call of connection `n` of an account. */
static int ask(unsigned n, uid_t uid)
{
    static const char *const details[] = { "user", "ann", NULL };
    sd_bus_message *m = NULL;
    char sender[32];
    int r;

    snprintf(sender, sizeof(sender), ":1.%u", n);
    assert_true(sd_bus_message_new_method_call(ours, &m, NULL, "/a", "a.b", "Kill") >= 0);
    assert_true(sd_bus_message_set_sender(m, sender) >= 0);
    assert_true(sd_bus_message_seal(m, n, 0) >= 0);
    r = nm_bus_auth_ask(auth, m, uid, "a.kill", details);
    sd_bus_message_unref(m);
    return r;
}

static void run_until(const unsigned *count, unsigned n)
{
    while (*count < n)
        assert_true(sd_event_run(event, 10000000) > 0);
}

/* Whatever comes yet. */
static void drain(void)
{
    while (sd_event_run(event, 20000) > 0)
        ;
}

static void answers(void **state)
{
    (void)state;
    assert_int_equal(ask(1, 1000), 0);
    run_until(&decided, 1);
    assert_null(refusal);
    assert_int_equal(owners_asked, 1);
    yes = 0;
    assert_int_equal(ask(2, 1000), 0);
    run_until(&decided, 2);
    assert_string_equal(refusal, "not authorized by polkit");
    assert_int_equal(owners_asked, 1);
}

static void caller_left(void **state)
{
    (void)state;
    there = 0;
    assert_int_equal(ask(1, 1000), 0);
    run_until(&owners_asked, 1);
    drain();
    assert_int_equal(decided, 0);
    for (unsigned i = 0; i < NM_BUS_ASKED_OF_USER; i++) /* its question is over */
        assert_int_equal(ask(2 + i, 1000), 0);
}

static void many_connections(void **state)
{
    (void)state;
    yes = -1; /* polkit does not answer */
    for (unsigned i = 0; i < NM_BUS_ASKED_OF_USER; i++)
        assert_int_equal(ask(1 + i, 1000), 0);
    assert_int_equal(ask(100, 1000), -EBUSY);
    assert_int_equal(ask(101, 1001), 0);
    run_until(&asked, NM_BUS_ASKED_OF_USER + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(caller_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_connections, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("bus-auth", tests, NULL, NULL);
}
