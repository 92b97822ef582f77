/* service/definition/render.c and formats.c: files of each format, byte by byte; sources,
 * templates, what a format cannot hold, limits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/definition/map.h"
#include "service/definition/render.h"

#define N(a) (sizeof(a) / sizeof *(a))

static struct svc_pair pairs[] = {
    { "b", "${USER} <&> \"x\"" },
    { "a key:#", "  two\nlines\t\\" },
    { "ü", "é\xf0\x9f\x99\x82=!" },
};
static const struct svc_map properties = { pairs, N(pairs) };

static int render(enum svc_file_type type, const struct svc_map *m, const char *source, char **ret,
                  struct sv_error *err)
{
    _cleanup_tokens_ struct svc_tokens *t = svc_tokens_new(NULL);
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(8 << 20);
    struct svc_file f = {
        .type = type, .dest = "f", .src = source ? "hdfs:///f" : "", .properties = *m
    };
    int r;

    assert_int_equal(svc_tokens_set(t, "USER", "ann"), 0);
    assert_int_equal(svc_file_needs_source(&f), source != NULL);
    (void)svc_map_sort(&f.properties);
    r = svc_file_render(&f, source, source ? strlen(source) : 0, t, &out, err);
    if (r < 0)
        return r;
    assert_int_equal(sv_buf_put_u8(&out, 0), 0);
    *ret = strdup((const char *)out.data);
    return 0;
}

static void check(enum svc_file_type type, const struct svc_map *m, const char *source,
                  const char *want)
{
    struct sv_error err = { 0 };
    char *got = NULL;

    if (render(type, m, source, &got, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(got, want);
    free(got);
}

static void test_formats(void **state)
{
    (void)state;
    check(SVC_FILE_XML, &properties, NULL,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<configuration>\n"
          "  <property><name>a key:#</name><value>  two\nlines\t\\</value></property>\n"
          "  <property><name>b</name><value>ann &lt;&amp;&gt; \"x\"</value></property>\n"
          "  <property><name>ü</name><value>é\xf0\x9f\x99\x82=!</value></property>\n"
          "</configuration>\n");
    check(SVC_FILE_PROPERTIES, &properties, NULL,
          "a\\ key\\:\\#=\\  two\\nlines\\t\\\\\n"
          "b=ann <&> \"x\"\n"
          "\\u00FC=\\u00E9\\uD83D\\uDE42\\=\\!\n");
    check(SVC_FILE_JSON, &properties, NULL,
          "{\n  \"a key:#\": \"  two\\nlines\\t\\\\\",\n  \"b\": \"ann <&> \\\"x\\\"\",\n"
          "  \"ü\": \"é\xf0\x9f\x99\x82=!\"\n}\n");
    check(SVC_FILE_YAML, &properties, NULL,
          "\"a key:#\": \"  two\\nlines\\x09\\\\\"\n\"b\": \"ann <&> \\\"x\\\"\"\n"
          "\"ü\": \"é\xf0\x9f\x99\x82=!\"\n");
    check(SVC_FILE_YAML, &(struct svc_map){ 0 }, NULL, "{}\n");
    check(SVC_FILE_JSON, &(struct svc_map){ 0 }, NULL, "{}\n");
    check(SVC_FILE_PROPERTIES, &(struct svc_map){ 0 }, NULL, "");
}

static void test_source(void **state)
{
    static struct svc_pair own[] = { { "b", "mine ${USER}" }, { "d", "new" } };
    static const struct svc_map m = { own, N(own) };

    (void)state;
    check(SVC_FILE_HADOOP_XML, &m,
          "<configuration><property><name>c</name><value>1</value></property>"
          "<property><name>b</name><value>theirs</value></property>"
          "<property><name>a</name><value>${USER}&amp;</value></property>"
          "<property><name>c</name><value>2</value></property></configuration>",
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<configuration>\n"
          "  <property><name>a</name><value>ann&amp;</value></property>\n"
          "  <property><name>b</name><value>mine ann</value></property>\n"
          "  <property><name>c</name><value>2</value></property>\n"
          "  <property><name>d</name><value>new</value></property>\n"
          "</configuration>\n");
}

static void test_template(void **state)
{
    static struct svc_pair own[] = {
        { "USER", "not this one" },
        { "content", "u=${USER} p={{port}} ${port} {{x}} ${y} {{content}} {{port" },
        { "port", "80${USER}{{port}}" },
    };
    static const struct svc_map m = { own, N(own) };

    (void)state;
    check(SVC_FILE_TEMPLATE, &m, NULL,
          "u=ann p=80ann{{port}} 80ann{{port}} {{x}} ${y} {{content}} {{port");
    check(SVC_FILE_TEMPLATE, &m, "<{{port}}>\n${USER}", "<80ann{{port}}>\nann");
    check(SVC_FILE_TEMPLATE, &m, "", "");
}

static void test_refusals(void **state)
{
    static struct svc_pair control[] = { { "a", "\x01" } }, broken[] = { { "a", "\xff" } };
    static const struct svc_map no_xml = { control, 1 }, no_text = { broken, 1 };
    struct sv_error err = { 0 };
    char *got = NULL;

    (void)state;
    assert_int_equal(render(SVC_FILE_XML, &no_xml, NULL, &got, &err), -EINVAL);
    assert_string_equal(err.text, "file f: a value has bytes that its format cannot hold");
    assert_int_equal(render(SVC_FILE_PROPERTIES, &no_text, NULL, &got, &err), -EINVAL);
    assert_int_equal(render(SVC_FILE_JSON, &no_text, NULL, &got, &err), -EINVAL);
    assert_int_equal(render(SVC_FILE_YAML, &no_text, NULL, &got, &err), -EINVAL);
    assert_int_equal(render(SVC_FILE_HADOOP_XML, &no_text, "<configuration>", &got, &err), -EINVAL);
    assert_non_null(strstr(err.text, "file f: hdfs:///f:1:"));
    assert_int_equal(render(SVC_FILE_STATIC, &(struct svc_map){ 0 }, NULL, &got, &err), -EINVAL);
    assert_null(got);
}

/* A token that is there very often multiplies its value. */
static void test_product(void **state)
{
    _cleanup_tokens_ struct svc_tokens *t = svc_tokens_new(NULL);
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(64 << 20);
    struct svc_pair own = { "content", NULL };
    struct svc_file f = {
        .type = SVC_FILE_TEMPLATE, .dest = "f", .src = "", .properties = { &own, 1 }
    };
    struct sv_error err = { 0 };
    char *text = malloc(4 * 20000 + 1), *value = malloc(4096);

    (void)state;
    assert_true(text && value);
    for (size_t i = 0; i < 20000; i++)
        memcpy(text + 4 * i, "${A}", 5);
    memset(value, 'v', 4095);
    value[4095] = '\0';
    own.value = text;
    assert_int_equal(svc_tokens_set(t, "A", value), 0);
    assert_int_equal(svc_file_render(&f, NULL, 0, t, &out, &err), -EMSGSIZE);
    assert_int_equal(out.len, 0);
    free(text);
    free(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),  cmocka_unit_test(test_source),
        cmocka_unit_test(test_template), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_product),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
