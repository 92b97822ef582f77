/* rm-lite/web/rest/body-xml.c: elements become members, and harmful input is rejected with its
 * name. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/web/rest/body-xml.h"

static void is(const char *xml, const char *json)
{
    struct sv_error err = { 0 };
    json_t *wanted = json_loads(json, 0, NULL), *got;

    assert_non_null(wanted);
    if (rm_body_from_xml(xml, strlen(xml), "r", &got, &err) < 0)
        fail_msg("%s: %s", xml, err.text);
    if (!json_equal(got, wanted)) {
        char *text = json_dumps(got, 0);

        fail_msg("%s: %s", xml, text);
    }
    json_decref(got);
    json_decref(wanted);
}

static void refused(const char *xml, const char *why)
{
    struct sv_error err = { 0 };
    json_t *got = NULL;

    assert_int_equal(rm_body_from_xml(xml, strlen(xml), "r", &got, &err), -EINVAL);
    if (!strstr(err.text, why))
        fail_msg("%.60s: \"%s\" lacks \"%s\"", xml, err.text, why);
    assert_null(got);
}

static void test_members(void **state)
{
    (void)state;
    is("<r/>", "{}");
    is("<r></r>", "{}");
    is("<?xml version=\"1.0\"?>\n<!-- c --><r>\n  <a>1</a>\n  <b> x y </b>\n</r>\n",
       "{\"a\":\"1\",\"b\":\" x y \"}");
    is("<r><a/><b></b></r>", "{\"a\":\"\",\"b\":\"\"}");
    is("<r><a><b>1</b><c>2</c></a></r>", "{\"a\":{\"b\":\"1\",\"c\":\"2\"}}");
    is("<r><a>1</a><b>x</b><a>2</a><a>3</a></r>", "{\"a\":[\"1\",\"2\",\"3\"],\"b\":\"x\"}");
    is("<r><e><k>A</k></e><e><k>B</k></e></r>", "{\"e\":[{\"k\":\"A\"},{\"k\":\"B\"}]}");
    is("<r><a>&lt;&amp;&#65;&#x42;<![CDATA[<x>]]></a></r>", "{\"a\":\"<&AB<x>\"}");
    is("<r xmlns=\"urn:x\" xmlns:q=\"urn:y\"><q:a u=\"1\">1</q:a></r>", "{\"a\":\"1\"}");
}

static void test_refusals(void **state)
{
    (void)state;
    refused("", "the body's XML:1: ");
    refused("{}", "");
    refused("<r>", "");
    refused("<r></q>", "");
    refused("<r/><r/>", "");
    refused("<q/>", "<q>: the document element is <r>");
    refused("<!DOCTYPE r [<!ENTITY a \"b\">]><r>&a;</r>", "DOCTYPE");
    refused("<!DOCTYPE r SYSTEM \"file:///etc/passwd\"><r/>", "DOCTYPE");
    refused("<r>&a;</r>", "");
    refused("<r><a>text<b/></a></r>", "<a>: text beside elements");
    refused("<r><a><b/>text</a></r>", "<a>: text beside elements");
    refused("<r>text</r>", "<r>: expected elements");
    refused("<r><a>\xff</a></r>", "");
    refused("<r><a>&#0;</a></r>", "");
}

static char *repeat(const char *begin, const char *part, size_t n, const char *end)
{
    size_t len = strlen(part);
    char *s = malloc(strlen(begin) + n * len + strlen(end) + 1), *p = stpcpy(s, begin);

    for (size_t i = 0; i < n; i++)
        p = stpcpy(p, part);
    (void)stpcpy(p, end);
    return s;
}

static void limited(const char *begin, const char *part, size_t n, const char *end, const char *why)
{
    char *s = repeat(begin, part, n, end);

    refused(s, why);
    free(s);
}

static void test_limits(void **state)
{
    struct sv_error err = { 0 };
    json_t *got;
    char *s;

    (void)state;
    limited("<r>", "<a>", RM_XML_DEPTH_MAX, "", "deeper than");
    limited("<r>", "<a/>", RM_XML_ELEMENTS_MAX, "</r>", "more than 20000 elements");
    limited("<r><", "a", RM_XML_NAME_MAX + 1, "/></r>", "longer than 128");
    s = repeat("<r>", "<a/>", RM_XML_ELEMENTS_MAX - 1, "</r>");
    assert_int_equal(rm_body_from_xml(s, strlen(s), "r", &got, &err), 0);
    assert_int_equal(json_array_size(json_object_get(got, "a")), RM_XML_ELEMENTS_MAX - 1);
    json_decref(got);
    free(s);
    s = repeat("<r><a>", "0123456789", 100000, "</a></r>");
    assert_int_equal(rm_body_from_xml(s, strlen(s), "r", &got, &err), 0);
    assert_int_equal(json_string_length(json_object_get(got, "a")), 1000000);
    json_decref(got);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
