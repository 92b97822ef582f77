/* common/web/rest-reply.c: one tree in both forms, and refusals with hostile texts. */
#include "common/web/rest-reply.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(struct sv_http_response *a, unsigned status, const char *type, const char *body)
{
    char *text = strndup(a->body, a->body_len);

    assert_int_equal(a->status, status);
    assert_string_equal(a->content_type, type);
    assert_string_equal(text, body);
    free(text);
    free(a->body);
}

static void both_forms(void **state)
{
    struct sv_http_response json = { 0 }, xml = { .xml = true };

    (void)state;
    assert_int_equal(
        sv_rest_tree(&json, 200, NULL, json_pack("{s:{s:[s,s]}}", "app", "id", "a", "<b>")), 0);
    expect(&json, 200, "application/json;charset=utf-8", "{\"app\":{\"id\":[\"a\",\"<b>\"]}}");
    assert_int_equal(
        sv_rest_tree(&xml, 200, NULL, json_pack("{s:{s:[s,s]}}", "app", "id", "a", "<b>")), 0);
    expect(&xml, 200, "application/xml;charset=utf-8",
           "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>"
           "<app><id>a</id><id>&lt;b&gt;</id></app>");
    assert_int_equal(sv_rest_tree(&json, 200, NULL, NULL), -ENOMEM);
}

static void refusals(void **state)
{
    struct sv_http_response json = { 0 }, xml = { .xml = true };

    (void)state;
    assert_int_equal(sv_rest_error(&json, 404, "NotFoundException", "no %s", "\xff\n<x>"), 0);
    expect(&json, 404, "application/json;charset=utf-8",
           "{\"RemoteException\":{\"exception\":\"NotFoundException\",\"message\":\"no "
           "\\\\xff\\\\x0a<x>\",\"javaClassName\":\"org.apache.hadoop.yarn.webapp."
           "NotFoundException\"}}");
    assert_int_equal(sv_rest_error(&xml, 400, "java.lang.Wrong", "no"), 0);
    expect(&xml, 400, "application/xml;charset=utf-8",
           "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>"
           "<RemoteException><exception>Wrong</exception><message>no</message>"
           "<javaClassName>java.lang.Wrong</javaClassName></RemoteException>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms),
        cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests_name("rest-reply", tests, NULL, NULL);
}
