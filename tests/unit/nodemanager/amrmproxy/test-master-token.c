/* amrmproxy/master-token.c: the real token out of a master's credentials, a local one in. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/amrmproxy/master-token.h"

static const struct yarn_attempt_id attempt = { { 17, 3 }, 1 };
static const struct yarn_attempt_id other = { { 17, 4 }, 1 };
static struct sv_arena *arena;
static Hadoop__Yarn__ContainerLaunchContextProto clc;
static struct yarn_credentials given;
static struct yarn_token local, real;

static int set_up(void **state)
{
    (void)state;
    arena = sv_arena_new(0);
    hadoop__yarn__container_launch_context_proto__init(&clc);
    memset(&given, 0, sizeof(given));
    local = (struct yarn_token){ (const uint8_t *)"local", 5, (const uint8_t *)"pw", 2,
                                 YARN_KIND_AMRM,           "" };
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    arena = sv_arena_free(arena);
    return 0;
}

static struct yarn_token token_of(struct yarn_attempt_id id, const char *password)
{
    const struct yarn_amrm_token t = { .attempt = id, .key_id = 5 };
    struct yarn_token r = { .kind = YARN_KIND_AMRM, .service = "127.0.0.1:8030" };

    assert_int_equal(yarn_amrm_token_encode(arena, &t, &r.id, &r.id_len), 0);
    r.password = (const uint8_t *)password;
    r.password_len = strlen(password);
    return r;
}

static void give(const char *alias, struct yarn_token t)
{
    assert_int_equal(yarn_credentials_add(arena, &given, alias, &t), 0);
}

static void write_as(enum yarn_credentials_format format)
{
    struct sv_buf out = SV_BUF_INIT(0);

    assert_int_equal(yarn_credentials_write_as(&given, format, &out), 0);
    clc.has_tokens = true;
    clc.tokens.data = sv_arena_memdup(arena, out.data, out.len);
    clc.tokens.len = out.len;
    sv_buf_free(&out);
}

static int exchange(struct sv_error *err)
{
    return nm_master_token_exchange(&clc, attempt, &local, arena, &real, err);
}

static void in_both_formats(void **state)
{
    const struct yarn_token plain = { (const uint8_t *)"id",     2,   (const uint8_t *)"x", 1,
                                      YARN_KIND_HDFS_DELEGATION, "nn" };

    (void)state;
    give("hdfs", plain);
    give("am", token_of(attempt, "secret"));
    give("second", token_of(attempt, "secret too"));
    assert_int_equal(yarn_credentials_add_secret(arena, &given, "s", "abc", 3), 0);
    for (int f = YARN_CREDENTIALS_WRITABLE; f <= YARN_CREDENTIALS_PROTOBUF; f++) {
        struct yarn_credentials now;
        struct sv_error err = { 0 };

        write_as((enum yarn_credentials_format)f);
        if (exchange(&err) < 0)
            fail_msg("%s", err.text);
        assert_int_equal(clc.tokens.data[4], f);
        assert_memory_equal(real.password, "secret", 6);
        assert_string_equal(real.service, "127.0.0.1:8030");
        assert_int_equal(yarn_credentials_parse(clc.tokens.data, clc.tokens.len, arena, &now, &err),
                         0);
        assert_int_equal(now.n_tokens, 2); /* the second real one is gone */
        assert_int_equal(now.n_secrets, 1);
        for (size_t i = 0; i < now.n_tokens; i++)
            if (strcmp(now.tokens[i].token.kind, YARN_KIND_AMRM) == 0) {
                assert_string_equal(now.tokens[i].alias, "am");
                assert_memory_equal(now.tokens[i].token.id, "local", 5);
                assert_string_equal(now.tokens[i].token.service, "");
            }
        assert_null(memmem(clc.tokens.data, clc.tokens.len, "secret", 6));
    }
}

static void refused(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(exchange(&err), -ENOENT); /* no credentials at all */
    write_as(YARN_CREDENTIALS_WRITABLE);
    assert_int_equal(exchange(&err), -ENOENT);
    assert_non_null(strstr(err.text, "AMRMToken not found in the start container request for "
                                     "application:appattempt_17_0003_000001"));
    give("am", token_of(other, "secret"));
    write_as(YARN_CREDENTIALS_WRITABLE);
    assert_int_equal(exchange(&err), -EBADMSG);
    assert_non_null(strstr(err.text, "AMRMToken of appattempt_17_0004_000001"));
    given.tokens[0].token.id = (const uint8_t *)"\377\377\377";
    given.tokens[0].token.id_len = 3;
    write_as(YARN_CREDENTIALS_WRITABLE);
    assert_true(exchange(&err) < 0);
    clc.tokens.len = 6; /* cut */
    assert_true(exchange(&err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(in_both_formats, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
