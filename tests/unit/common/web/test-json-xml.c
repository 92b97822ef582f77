/* JSON trees as XML documents, and the Accept headers that ask for them. */
#include "common/web/json-xml.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>"

static void check(const char *json, const char *root, const char *xml)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(4096);
    json_t *tree = json_loads(json, 0, NULL);

    assert_non_null(tree);
    assert_int_equal(sv_json_to_xml(tree, root, &b), 0);
    assert_int_equal(sv_buf_put_u8(&b, 0), 0);
    assert_string_equal((const char *)b.data, xml);
    json_decref(tree);
}

static void test_trees(void **state)
{
    (void)state;
    check("{\"app\":{\"id\":\"a\",\"n\":1,\"part\":0.5,\"is\":true,\"not\":false,\"nil\":null}}",
          NULL, HEAD "<app><id>a</id><n>1</n><part>0.5</part><is>true</is><not>false</not></app>");
    check("{\"apps\":{\"app\":[{\"id\":1},{\"id\":2}]}}", NULL,
          HEAD "<apps><app><id>1</id></app><app><id>2</id></app></apps>");
    check("{\"apps\":{\"app\":[]}}", NULL, HEAD "<apps></apps>");
    check("{\"state\":\"RUNNING\"}", "appstate",
          HEAD "<appstate><state>RUNNING</state></appstate>");
    check("{\"state\":\"RUNNING\"}", NULL, HEAD "<response><state>RUNNING</state></response>");
    check("{\"a\":{},\"b\":{}}", NULL, HEAD "<response><a></a><b></b></response>");
}

static void test_attributes(void **state)
{
    (void)state;
    check("{\"a\":{\"n\":1,\"@xsi:type\":\"t\",\"@x\":\"\\\"<&\"}}", NULL,
          HEAD "<a xsi:type=\"t\" x=\"&quot;&lt;&amp;\"><n>1</n></a>");
    check("{\"a\":{\"@x\":1,\"@ y=:z>\":\"\"}}", NULL, HEAD "<a _y_:z_=\"\"><_x>1</_x></a>");
}

static void test_hostile_texts(void **state)
{
    (void)state;
    check("{\"a\":{\"t\":\"<b>&\\\"'\\u0001\\uffff\\t\\u00e9\"}}", NULL,
          HEAD "<a><t>&lt;b&gt;&amp;&quot;'??\t\xc3\xa9</t></a>");
    check("{\"a\":{\"1 <x>\":1,\"\":2}}", NULL, HEAD "<a><___x_>1</___x_><_>2</_></a>");
}

static void test_limit(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(16);
    json_t *tree = json_pack("{s:s}", "a", "b");

    (void)state;
    assert_int_equal(sv_json_to_xml(tree, NULL, &b), -EMSGSIZE);
    json_decref(tree);
}

static void test_accept(void **state)
{
    static const struct {
        const char *header;
        bool xml;
    } rows[] = {
        { NULL, false },
        { "", false },
        { "*/*", false },
        { "application/json", false },
        { "application/xml", true },
        { "text/xml", true },
        { "Application/XML", true },
        { "application/json, application/xml", false },
        { "application/xml, application/json;q=0.5", true },
        { "application/xml;q=0.5, application/json", false },
        { "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true },
        { "application/xml;q=0", false },
        { "application/xml;q=0.1;x=y , application/*;q=0.05", true },
        { "application/xmlfoo", false },
        { ";q=,;;,application/xml;q=nonsense", true },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        if (sv_xml_accepted(rows[i].header) != rows[i].xml)
            fail_msg("Accept: %s", rows[i].header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees),         cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_hostile_texts), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_accept),
    };

    return cmocka_run_group_tests_name("json-xml", tests, NULL, NULL);
}
