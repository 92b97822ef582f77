/* Tests wire/ipc/ipc-context.c: users of a connection that a ticket has authenticated. Those of
 * SIMPLE and TOKEN are in test-ipc-auth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/wire/ipc-kerberos.h"

static void put_users(struct sv_buf *b, const char *effective, const char *real)
{
    Hadoop__Common__IpcConnectionContextProto m =
        HADOOP__COMMON__IPC_CONNECTION_CONTEXT_PROTO__INIT;
    Hadoop__Common__UserInformationProto user = HADOOP__COMMON__USER_INFORMATION_PROTO__INIT;

    user.effectiveuser = (char *)(uintptr_t)effective;
    user.realuser = (char *)(uintptr_t)real;
    m.userinfo = effective || real ? &user : NULL;
    m.protocol = (char *)PEER_PROTOCOL;
    raw_put_frame(b, IPC_CALL_CONTEXT, &m.base, NULL, 0);
}

static struct {
    int answer, asked;
    const char *full;
} proxies;

static int impersonation(void *userdata, const struct ipc_peer *peer, struct sv_error *err)
{
    (void)userdata;
    proxies.asked++;
    assert_string_equal(ipc_peer_method(peer), "KERBEROS");
    assert_string_equal(peer->principal, "alice@R");
    assert_string_equal(peer->real_user, "alice");
    assert_string_equal(peer->full_user, proxies.full);
    return proxies.answer == -EACCES ? sv_error_set(err, -EACCES, "alice is not bob")
                                     : proxies.answer;
}

struct users {
    const char *effective, *real;
    bool proxies; /* the server knows proxy users */
    int first, then;
    const char *words;
    const char *class; /* NULL: served */
};

static void try_users(const struct users *u)
{
    _cleanup_buf_ struct sv_buf b = { 0 };
    struct raw_reply r = { 0 };
    struct peer_server s;
    int fd;

    start(&s, &(struct ipc_server_config){ .impersonation = u->proxies ? impersonation : NULL });
    proxies.answer = u->first;
    proxies.asked = 0;
    proxies.full = u->effective;
    fd = login(&s, CHOOSE_AUTH);
    put_users(&b, u->effective, u->real);
    raw_put_echo(&b, 1, "whoami", "");
    raw_send(fd, b.data, b.len);
    if (u->first == -EAGAIN) {
        peer_run_until(&s, proxies.asked == 1);
        turns(&s);
        proxies.answer = u->then;
        ipc_server_ask_again(s.server);
    }
    peer_run_until(&s, take_frames(fd, &r, 1));
    if (!raw_holds(&r, u->words))
        fail_msg("%s: not \"%s\"", u->effective ? u->effective : "nobody", u->words);
    if (u->class)
        assert_true(raw_holds(&r, u->class));
    sv_close(fd);
    stop(&s);
}

/* Full names are compared: also who calls herself by the own short name acts for somebody. */
static void test_users(void **state)
{
    static const char no[] = "User: alice@R is not allowed to impersonate ";
    static const struct users all[] = {
        { NULL, NULL, true, -EACCES, 0, "alice/alice@R", NULL },
        { "alice@R", NULL, true, -EACCES, 0, "alice/alice@R", NULL },
        { "alice@R", "alice@R", true, -EACCES, 0, "alice/alice@R", NULL },
        { "alice", NULL, false, 0, 0, "impersonate alice", JAVA_AUTHORIZATION },
        { "bob", NULL, false, 0, 0, no, JAVA_AUTHORIZATION },
        { "bob@R", NULL, false, 0, 0, "impersonate bob@R", JAVA_AUTHORIZATION },
        { "root", "alice", false, 0, 0, "a real user who is not the client", JAVA_ACCESS_CONTROL },
        { NULL, "root", false, 0, 0, "a real user who is not the client", JAVA_ACCESS_CONTROL },
        { "", NULL, true, 0, 0, "a name that is none", JAVA_ACCESS_CONTROL },
        { "eve@ELSEWHERE", NULL, true, 0, 0, "gives eve@ELSEWHERE an account",
          JAVA_ACCESS_CONTROL },
        { "bob", NULL, true, 0, 0, "alice as bob/alice@R", NULL },
        { "bob@R", NULL, true, 0, 0, "alice as bob/alice@R", NULL },
        { "alice", NULL, true, 0, 0, "alice as alice/alice@R", NULL },
        { "bob", NULL, true, -EACCES, 0, "alice is not bob", JAVA_AUTHORIZATION },
        { "bob", NULL, true, -EAGAIN, 0, "alice as bob/alice@R", NULL },
        { "bob", NULL, true, -EAGAIN, -EACCES, "alice is not bob", JAVA_AUTHORIZATION },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++)
        try_users(&all[i]);
}

/* After privacy was chosen nothing goes without it. */
static void test_unwrapped(void **state)
{
    _cleanup_buf_ struct sv_buf b = { 0 };
    struct raw_reply r = { 0 };
    struct peer_server s;
    int fd;

    (void)state;
    start(&s, &(struct ipc_server_config){ .qop_mask = IPC_QOP_ALL });
    fd = login(&s, CHOOSE_PRIVACY);
    put_users(&b, NULL, NULL);
    raw_put_echo(&b, 1, "echo", "x");
    raw_send(fd, b.data, b.len);
    peer_run_until(&s, raw_take(fd, &r));
    assert_int_equal(s.calls, 0);
    sv_close(fd);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_users),
        cmocka_unit_test(test_unwrapped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
