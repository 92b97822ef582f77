/* Tests shuffle/request.c: requests of Hadoop's reducers, and rejected ones with their status. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shuffle/request.h"

#define HEADERS "User-Agent: Java/17\r\nHost: a:13562\r\nname: mapreduce\r\nversion: 1.0.0\r\n"
#define QUERY "job=job_1_2&reduce=3&map=m_0,m_1"

static struct shf_request request;
static struct shf_refusal why;

static int parse(const char *text)
{
    return shf_request_parse(text, strlen(text), &request, &why);
}

static int parse_query(const char *query)
{
    char text[SHF_REQUEST_MAX + 1024];

    (void)snprintf(text, sizeof(text), "GET /mapOutput?%s HTTP/1.1\r\n" HEADERS "\r\n", query);
    return parse(text);
}

static void test_a_reducers_request(void **state)
{
    const char *text =
        "GET /mapOutput?" QUERY "&keepAlive=true HTTP/1.1\r\n" HEADERS "UrlHash: abc=\r\n\r\nNEXT";

    (void)state;
    assert_int_equal(parse(text), strlen(text) - 4);
    assert_int_equal(request.uri_len, strlen("/mapOutput?" QUERY "&keepAlive=true"));
    assert_ptr_equal(request.uri, text + 4);
    assert_string_equal(request.job, "job_1_2");
    assert_int_equal(request.reduce, 3);
    assert_int_equal(request.maps, 2);
    assert_string_equal(shf_request_map(&request, 0), "m_0");
    assert_string_equal(shf_request_map(&request, 1), "m_1");
    assert_string_equal(request.url_hash, "abc=");
    assert_true(request.keep_alive && !request.close);
}

static void test_more_is_needed_until_the_empty_line(void **state)
{
    const char *text = "GET /mapOutput?" QUERY " HTTP/1.1\r\n" HEADERS "\r\n";

    (void)state;
    for (size_t n = 0; n < strlen(text); n++)
        assert_int_equal(shf_request_parse(text, n, &request, &why), -EAGAIN);
    assert_int_equal(parse(text), strlen(text));
    assert_string_equal(request.url_hash, "");
    assert_false(request.keep_alive);
}

static void test_a_head_without_end_is_refused(void **state)
{
    char text[SHF_REQUEST_MAX];

    (void)state;
    memset(text, 'a', sizeof(text));
    assert_int_equal(shf_request_parse(text, sizeof(text) - 1, &request, &why), -EAGAIN);
    assert_int_equal(shf_request_parse(text, sizeof(text), &request, &why), -EBADMSG);
    assert_int_equal(why.status, 400);
}

static void test_parameters(void **state)
{
    static const char *const bad[] = {
        "",
        "job=job_1_2&reduce=3",
        "reduce=3&map=m",
        "job=job_1_2&map=m",
        "job=job_1_2&reduce=3&map=",
        "job=job_1_2&reduce=3&map=..",
        "job=job_1_2&reduce=3&map=a/b",
        "job=job_1_2&reduce=3&map=a%2fb",
        "job=job_1_2&reduce=3&map=a%252fb",
        "job=job_1_2&reduce=3&map=a+b",
        "job=job_1_2&reduce=3&map=a%00",
        "job=job_1_2&reduce=3&map=%",
        "job=job_1_2&reduce=3&map=,m",
        "job=job_1_2&reduce=+3&map=m",
        "job=job_1_2&reduce=-3&map=m",
        "job=job_1_2&reduce=2147483648&map=m",
        "job=job_1_2&reduce=3&reduce=3&map=m",
        "job=job_1_2&job=job_1_2&reduce=3&map=m",
        "job=job_1&reduce=3&map=m",
        "job=job_1_&reduce=3&map=m",
        "job=job_1_2_3&reduce=3&map=m",
        "job=job_x_2&reduce=3&map=m",
        "job=application_1_2&reduce=3&map=m",
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        if (parse_query(bad[i]) != -EBADMSG || why.status != 400)
            fail_msg("%s was not refused", bad[i]);
    }
    assert_true(parse_query("map=a%5fb&x=y&reduce=0&map=c,d&job=job_1_2&&keepAlive=TRUE") > 0);
    assert_int_equal(request.maps, 3);
    assert_string_equal(shf_request_map(&request, 0), "a_b");
    assert_string_equal(shf_request_map(&request, 2), "d");
    assert_true(request.keep_alive);
    assert_true(parse_query(QUERY "&keepAlive=true&keepAlive=true") > 0);
    assert_false(request.keep_alive);
}

static void test_the_number_of_maps_is_bounded(void **state)
{
    char query[SHF_REQUEST_MAX] = "job=job_1_2&reduce=0&map=";
    size_t at = strlen(query);

    (void)state;
    for (unsigned i = 0; i < SHF_MAPS_MAX; i++)
        at += (size_t)snprintf(query + at, sizeof(query) - at, "%s%u", i ? "," : "", i);
    assert_true(parse_query(query) > 0);
    assert_int_equal(request.maps, SHF_MAPS_MAX);
    assert_string_equal(shf_request_map(&request, SHF_MAPS_MAX - 1), "1023");
    (void)snprintf(query + at, sizeof(query) - at, ",1024");
    assert_int_equal(parse_query(query), -EBADMSG);
    assert_string_equal(why.text, "Too many maps");
}

static void test_statuses(void **state)
{
    static const struct {
        const char *text;
        unsigned status;
    } cases[] = {
        { "POST /mapOutput?" QUERY " HTTP/1.1\r\n" HEADERS "\r\n", 405 },
        { "GET /other?" QUERY " HTTP/1.1\r\n" HEADERS "\r\n", 403 },
        { "GET /mapOutput?" QUERY " HTTP/1.1\r\nname: mapreduce\r\n\r\n", 400 },
        { "GET /mapOutput?" QUERY " HTTP/1.1\r\n" HEADERS "version: 1.0.0\r\n\r\n", 400 },
        { "GET /mapOutput?" QUERY "#f HTTP/1.1\r\n" HEADERS "\r\n", 400 },
        { "GET  /mapOutput?" QUERY " HTTP/1.1\r\n" HEADERS "\r\n", 400 },
        { "GET /mapOutput?" QUERY " HTTP/1.1 \r\n" HEADERS "\r\n", 400 },
        { "GET /mapOutput?" QUERY " HTTP/1.1\n" HEADERS "\r\n", 400 },
        { "GET /mapOutput?" QUERY "\r\n" HEADERS "\r\n", 400 },
        { "GET /mapOutput?" QUERY " HTTP/1.1\r\n" HEADERS "Content-Length: 1\r\n\r\n", 400 },
        { "GET /mapOutput?" QUERY " HTTP/1.1\r\n" HEADERS "Transfer-Encoding: x\r\n\r\n", 400 },
        { "GET /mapOutput?" QUERY " HTTP/1.1\r\n" HEADERS " folded\r\n\r\n", 400 },
        { "GET /mapOutput?" QUERY " HTTP/1.1\r\n" HEADERS "a : b\r\n\r\n", 400 },
        { "GET /mapOutput?" QUERY " HTTP/1.1\r\n" HEADERS ": b\r\n\r\n", 400 },
        { "GET /mapOutput?" QUERY " HTTP/1.1\r\n" HEADERS "a: \x01\r\n\r\n", 400 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        if (parse(cases[i].text) != -EBADMSG || why.status != cases[i].status)
            fail_msg("%s: %u", cases[i].text, why.status);
    }
    assert_true(parse("GET /mapOutput?" QUERY " HTTP/1.0\r\n" HEADERS "\r\n") > 0);
    assert_true(request.close);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reducers_request),
        cmocka_unit_test(test_more_is_needed_until_the_empty_line),
        cmocka_unit_test(test_a_head_without_end_is_refused),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_the_number_of_maps_is_bounded),
        cmocka_unit_test(test_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
