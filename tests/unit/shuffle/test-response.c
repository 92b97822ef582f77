/* Tests shuffle/response.c and url-hash.c against RFC 2202 and the forms of Hadoop 3.4. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "shuffle/response.h"
#include "shuffle/url-hash.h"

static void test_hash(void **state)
{
    const char *uri = "/mapOutput?job=job_1_2&reduce=0&map=m";
    char hash[SHF_HASH_TEXT + 1];

    (void)state;
    /* RFC 2202, case 2 */
    assert_int_equal(shf_hash("Jefe", 4, "what do ya want for nothing?", 28, hash), 0);
    assert_string_equal(hash, "7/zfauXrL6LSdBbV8YTfnCWafHk=");
    assert_int_equal(shf_hash("key", 3, "13562/mapOutput?job=job_1_2&reduce=0&map=m", 42, hash), 0);
    assert_true(shf_url_hash_verify("key", 3, 13562, uri, strlen(uri), hash));
    assert_false(shf_url_hash_verify("key", 3, 13563, uri, strlen(uri), hash));
    assert_false(shf_url_hash_verify("kez", 3, 13562, uri, strlen(uri), hash));
    assert_false(shf_url_hash_verify("key", 3, 13562, uri, strlen(uri) - 1, hash));
    assert_false(shf_url_hash_verify("key", 3, 13562, uri, strlen(uri), ""));
    hash[SHF_HASH_TEXT - 1] = 0; /* without its padding */
    assert_false(shf_url_hash_verify("key", 3, 13562, uri, strlen(uri), hash));
}

/* Format of ShuffleHeader; the second byte of each number is its length. */
static void test_map_header(void **state)
{
    uint8_t got[SHF_MAP_HEADER_MAX];
    struct shf_segment s = { 0, 0, 127 };
    char name[SHF_ID_MAX + 1] = { 0 };

    (void)state;
    assert_int_equal(shf_map_header(got, "ab", &s, 5), 6);
    assert_memory_equal(got,
                        "\x02"
                        "ab\x7f\x00\x05",
                        6);
    s = (struct shf_segment){ 0, 0x12345678, 128 };
    assert_int_equal(shf_map_header(got, "ab", &s, 256), 3 + 2 + 5 + 3);
    assert_memory_equal(got,
                        "\x02"
                        "ab\x8f\x80\x8c\x12\x34\x56\x78\x8e\x01\x00",
                        13);
    s = (struct shf_segment){ 0, INT64_MAX, INT64_MAX };
    memset(name, 'a', SHF_ID_MAX);
    assert_int_equal(shf_map_header(got, name, &s, INT32_MAX), sizeof(got));
    assert_memory_equal(got, "\x8f\x80", 2);
}

static void test_heads(void **state)
{
    char text[SHF_HEAD_MAX];

    (void)state;
    size_t n = shf_response_ok(text, "h=", 0, 138);
    assert_int_equal(n, strlen(text));
    assert_string_equal(text, "HTTP/1.1 200 OK\r\nReplyHash: h=\r\nname: mapreduce\r\n"
                              "version: 1.0.0\r\nConnection: close\r\ncontent-length: 138\r\n\r\n");
    (void)shf_response_ok(text, "h=", 5, 0);
    assert_non_null(strstr(text, "\r\nConnection: Keep-Alive\r\nKeep-Alive: timeout=5\r\n"));
    n = shf_response_refusal(text, &(struct shf_refusal){ 429, "x" });
    assert_int_equal(n, strlen(text));
    assert_non_null(strstr(text, "HTTP/1.1 429 TOO MANY REQUESTS\r\n"));
    assert_non_null(strstr(text, "\r\nRetry-After: 1000\r\n"));
    assert_non_null(strstr(text, "\r\ncontent-length: 1\r\nConnection: close\r\n\r\nx"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_map_header),
        cmocka_unit_test(test_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
