/* Tests gss/protocol.c: packets of both directions, cut, lengthened and with fields that their kind
 * does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "gss/protocol.h"

#define NM "nm/host@R"
#define TOKEN .token = (const uint8_t *)"token", .token_len = 5
#define CONTEXT .context = (const uint8_t *)"context", .context_len = 7

/* A parser reads no further than its input: it gets that much memory, for ASan. */
static int get_request(const uint8_t *p, size_t n, struct sgss_request *ret, uint8_t **ret_copy)
{
    *ret_copy = malloc(n + 1);
    memcpy(*ret_copy + 1, p, n);
    return sgss_request_get(*ret_copy + 1, n, ret);
}

static void round_trip(const struct sgss_request *m)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    struct sgss_request got;
    uint8_t *copy;

    assert_int_equal(sgss_request_put(&b, m), 0);
    assert_int_equal(get_request(b.data, b.len, &got, &copy), 0);
    assert_int_equal(got.kind, m->kind);
    assert_int_equal(got.id, m->id);
    assert_int_equal(got.handshake, m->handshake);
    assert_int_equal(got.deadline_ms, m->deadline_ms);
    assert_string_equal(got.principal, m->principal ? m->principal : "");
    assert_string_equal(got.target, m->target ? m->target : "");
    assert_int_equal(got.token_len, m->token_len);
    if (m->token_len > 0)
        assert_memory_equal(got.token, m->token, m->token_len);
    free(copy);
    for (size_t n = 0; n < b.len; n++) {
        assert_int_equal(get_request(b.data, n, &got, &copy), -EBADMSG);
        free(copy);
    }
    assert_int_equal(sv_buf_put_u8(&b, 0), 0);
    assert_int_equal(sgss_request_get(b.data, b.len, &got), -EBADMSG);
}

static void test_requests(void **state)
{
    (void)state;
    const struct sgss_request good[] = {
        { SGSS_ACCEPT, 1, 2, 10000, NM, NULL, TOKEN },
        { SGSS_INIT, UINT64_MAX, 9, 30000, NM, "rm/h@R", TOKEN },
        { SGSS_INIT, 3, 9, 30000, NM, "rm/h@R" },
        { SGSS_LOGIN, 4, 0, 1, NM },
        { SGSS_FORGET, 0, 7 },
        { SGSS_WEB, 5, 0, 10000, "HTTP/host@R", NULL, TOKEN },
        { SGSS_WEB, 5, 0, 10000, SGSS_WEB_ANY, NULL, TOKEN },
    };
    const struct sgss_request bad[] = {
        { SGSS_ACCEPT, 0, 2, 10000, NM, NULL, TOKEN },
        { SGSS_ACCEPT, 1, 0, 10000, NM, NULL, TOKEN },
        { SGSS_ACCEPT, 1, 2, 0, NM, NULL, TOKEN },
        { SGSS_ACCEPT, 1, 2, 10000, NM },
        { SGSS_ACCEPT, 1, 2, 10000, NM, "rm/h@R", TOKEN },
        { SGSS_ACCEPT, 1, 2, 10000, "", NULL, TOKEN },
        { SGSS_ACCEPT, 1, 2, SGSS_DEADLINE_MAX_MS + 1, NM, NULL, TOKEN },
        { SGSS_INIT, 3, 9, 30000, NM, NULL, TOKEN },
        { SGSS_INIT, 3, 9, 30000, "", "rm/h@R", TOKEN },
        { SGSS_LOGIN, 4, 5, 1, NM },
        { SGSS_LOGIN, 4, 0, 1, NM, NULL, TOKEN },
        { SGSS_LOGIN, 4, 0, 1, "n m@R" },
        { SGSS_LOGIN, 4, 0, 1, "nm\n@R" },
        { SGSS_FORGET, 1, 7 },
        { SGSS_FORGET, 0, 7, 1 },
        { SGSS_FORGET, 0, 7, 0, NM },
        { SGSS_FORGET, 0, 0 },
        { 0, 1, 2, 10000, NM, NULL, TOKEN },
        { SGSS_WEB, 5, 0, 10000, NM, NULL, TOKEN },
        { SGSS_WEB, 5, 0, 10000, "HTTP", NULL, TOKEN },
        { SGSS_WEB, 5, 0, 10000, "**", NULL, TOKEN },
        { SGSS_WEB, 5, 2, 10000, "HTTP/host@R", NULL, TOKEN },
        { SGSS_WEB, 5, 0, 0, "HTTP/host@R", NULL, TOKEN },
        { SGSS_WEB, 0, 0, 10000, "HTTP/host@R", NULL, TOKEN },
        { SGSS_WEB, 5, 0, 10000, "HTTP/host@R", "rm/h@R", TOKEN },
        { SGSS_WEB, 5, 0, 10000, "HTTP/host@R" },
        { 6, 1, 2, 10000, NM, NULL, TOKEN },
    };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);

    for (size_t i = 0; i < SV_ARRAY_LEN(good); i++)
        round_trip(&good[i]);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        assert_int_equal(sgss_request_put(&b, &bad[i]), -EINVAL);
        assert_int_equal(b.len, 0);
    }
}

/* Names at their limit, and texts that the encoder does not write. */
static void test_names(void **state)
{
    (void)state;
    char name[SGSS_NAME_MAX + 2];
    struct sgss_request m = { SGSS_LOGIN, 4, 0, 1, name }, got;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    const size_t at = 2 + 8 + 8 + 4; /* of the principal's length */

    memset(name, 'a', sizeof(name));
    name[SGSS_NAME_MAX + 1] = 0;
    assert_int_equal(sgss_request_put(&b, &m), -EINVAL);
    name[SGSS_NAME_MAX] = 0;
    assert_int_equal(sgss_request_put(&b, &m), 0);
    assert_int_equal(sgss_request_get(b.data, b.len, &got), 0);
    b.data[at + 2 + 5] = 0; /* a NUL inside */
    assert_int_equal(sgss_request_get(b.data, b.len, &got), -EBADMSG);
    b.data[at + 2 + 5] = 'a';
    b.data[at + 2 + SGSS_NAME_MAX] = 'a'; /* none at the end */
    assert_int_equal(sgss_request_get(b.data, b.len, &got), -EBADMSG);
    b.data[at + 2 + SGSS_NAME_MAX] = 0;
    assert_int_equal(sgss_request_get(b.data, b.len, &got), 0);
    b.data[at] = 0xff; /* longer than the packet */
    assert_int_equal(sgss_request_get(b.data, b.len, &got), -EBADMSG);
    b.data[at] = 0;
    b.data[b.len - 4] = 0xff; /* a token of 4 GiB */
    assert_int_equal(sgss_request_get(b.data, b.len, &got), -EBADMSG);
    b.data[b.len - 4] = 0;
    b.data[0] = 2; /* version */
    assert_int_equal(sgss_request_get(b.data, b.len, &got), -EBADMSG);
}

static void test_answers(void **state)
{
    (void)state;
    const struct sgss_answer good[] = {
        { .id = 1, .status = SGSS_OK, .flags = SGSS_FLAGS, .until = 9, .name = NM, TOKEN, CONTEXT },
        { .id = 1, .status = SGSS_OK, .name = NM, CONTEXT },
        { .id = 1, .status = SGSS_OK, .until = 1234567890 },
        { .id = 1, .status = SGSS_OK, .until = 9, .name = NM, TOKEN },
        { .id = 1, .status = SGSS_OK, .name = NM },
        { .id = 1, .status = SGSS_MORE, TOKEN },
        { .id = 1, .status = SGSS_REFUSED, .words = "Request is a replay" },
        { .id = 1, .status = SGSS_LATE, .words = "late" },
    };
    const struct sgss_answer bad[] = {
        { .status = SGSS_OK, .until = 1 },
        { .id = 1, .status = SGSS_STATUSES, .words = "?" },
        { .id = 1, .status = SGSS_OK, .flags = 16, .name = NM, CONTEXT },
        { .id = 1, .status = SGSS_OK, CONTEXT },
        { .id = 1, .status = SGSS_OK, .flags = SGSS_MUTUAL, .name = NM, TOKEN },
        { .id = 1, .status = SGSS_OK, .flags = SGSS_MUTUAL },
        { .id = 1, .status = SGSS_OK, TOKEN },
        { .id = 1, .status = SGSS_OK, .words = "why" },
        { .id = 1, .status = SGSS_MORE },
        { .id = 1, .status = SGSS_MORE, TOKEN, CONTEXT },
        { .id = 1, .status = SGSS_MORE, .flags = SGSS_MUTUAL, TOKEN },
        { .id = 1, .status = SGSS_REFUSED },
        { .id = 1, .status = SGSS_REFUSED, .words = "why", .name = NM, CONTEXT },
        { .id = 1, .status = SGSS_REFUSED, .words = "why", .until = 9 },
        { .id = 1, .status = SGSS_REFUSED, .words = "two\nlines" },
        { .id = 1, .status = SGSS_OK, .name = "n m@R", CONTEXT },
    };
    struct sgss_answer got;

    for (size_t i = 0; i < SV_ARRAY_LEN(good); i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);

        assert_int_equal(sgss_answer_put(&b, &good[i]), 0);
        assert_int_equal(sgss_answer_get(b.data, b.len, &got), 0);
        assert_int_equal(got.status, good[i].status);
        assert_int_equal(got.until, good[i].until);
        assert_int_equal(got.token_len, good[i].token_len);
        assert_int_equal(got.context_len, good[i].context_len);
        assert_string_equal(got.words, good[i].words ? good[i].words : "");
        for (size_t n = 0; n < b.len; n++)
            assert_int_equal(sgss_answer_get(b.data, n, &got), -EBADMSG);
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);

        assert_int_equal(sgss_answer_put(&b, &bad[i]), -EINVAL);
        assert_int_equal(b.len, 0);
    }
}

/* The largest packet is a packet. */
static void test_sizes(void **state)
{
    (void)state;
    _cleanup_free_ uint8_t *p = calloc(1, SGSS_TOKEN_MAX + 1);
    _cleanup_free_ uint8_t *c = calloc(1, SGSS_CONTEXT_MAX + 1);
    char name[SGSS_NAME_MAX + 1], words[SGSS_WORDS_MAX + 1];
    struct sgss_answer m = { .id = 1,
                             .status = SGSS_OK,
                             .name = name,
                             .token = p,
                             .token_len = SGSS_TOKEN_MAX,
                             .context = c,
                             .context_len = SGSS_CONTEXT_MAX };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(SGSS_FRAME_MAX);

    memset(name, 'a', sizeof(name));
    name[SGSS_NAME_MAX] = 0;
    assert_int_equal(sgss_answer_put(&b, &m), 0);
    assert_int_equal(sgss_answer_get(b.data, b.len, &m), 0);
    sv_buf_free(&b);
    m.token_len++;
    m.token = p;
    m.context = c;
    m.name = name;
    m.words = NULL;
    assert_int_equal(sgss_answer_put(&b, &m), -EINVAL);
    sgss_words(words, "a\tb\xc3\xa9\x7f");
    assert_string_equal(words, "a?b???");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
