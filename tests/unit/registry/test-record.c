/* Tests registry/record.c and path.c against tests/golden/registry, which Hadoop's own client wrote
 * (tests/interop/test-registry compares it again). */
#include "registry/record.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "common/fd.h"
#include "registry/path.h"

#define ID "container_e17_1700000000000_0007_01_000002"

static char *golden;

static int read_golden(void **state)
{
    size_t len;

    (void)state;
    return sv_read_file_at(AT_FDCWD, "tests/golden/registry", 1 << 20, &golden, &len);
}

static int free_golden(void **state)
{
    (void)state;
    free(golden);
    return 0;
}

/* The rest of the line that begins with the name. */
static const char *line_of(const char *name, char *to, size_t size)
{
    char begin[128];
    const char *at;

    (void)snprintf(begin, sizeof(begin), "%s ", name);
    at = strncmp(golden, begin, strlen(begin)) == 0 ? golden : NULL;
    if (!at) {
        (void)snprintf(begin, sizeof(begin), "\n%s ", name);
        at = strstr(golden, begin);
    }
    if (!at)
        fail_msg("tests/golden/registry has no line %s", name);
    at += strlen(begin);
    assert_true(strcspn(at, "\n") < size);
    (void)snprintf(to, size, "%.*s", (int)strcspn(at, "\n"), at);
    return to;
}

static void assert_printed(const struct reg_record *record, const char *name)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(REG_RECORD_MAX);
    char wanted[4096];

    assert_int_equal(reg_record_print(record, &b), 0);
    assert_int_equal(sv_buf_put_u8(&b, 0), 0);
    assert_string_equal((char *)b.data, line_of(name, wanted, sizeof(wanted)));
}

static const struct reg_pair of_service[] = { { REG_YARN_ID, "application_1700000000000_0007" },
                                              { REG_YARN_PERSISTENCE, REG_APPLICATION } };

static void of_services(void **state)
{
    const struct reg_record empty = { 0 };
    const struct reg_record r = { .description = "YarnServiceMaster",
                                  .attributes = of_service,
                                  .n_attributes = 2 };

    (void)state;
    assert_printed(&r, "service");
    assert_printed(&empty, "empty");
}

static void of_instances(void **state)
{
    static const struct reg_pair attributes[] = { { REG_YARN_ID, ID },
                                                  { REG_YARN_PERSISTENCE, REG_CONTAINER },
                                                  { REG_YARN_IP, "10.1.2.3" },
                                                  { REG_YARN_HOSTNAME, "web-0.example.org" },
                                                  { REG_YARN_COMPONENT, "web" } };

    (void)state;
    assert_printed(&(struct reg_record){ "web-0", attributes, 5, NULL, NULL, 0, 0 }, "instance");
}

static void with_endpoints(void **state)
{
    static const struct reg_pair web = { REG_URI, "http://n1:40001/" },
                                 first = { REG_URI, "http://n1:40001/ws" },
                                 second = { REG_URI, "http://n2:40001/ws" },
                                 rpc[] = { { REG_HOST, "n1" }, { REG_PORT, "40002" } };
    static const struct reg_address at_web = { &web, 1 },
                                    at_rest[] = { { &first, 1 }, { &second, 1 } },
                                    at_rpc = { rpc, 2 };
    static const struct reg_endpoint external[] = {
        { "http://", REG_ADDRESS_URI, REG_PROTOCOL_WEB, &at_web, 1 },
        { "classpath:org.example.rest", REG_ADDRESS_URI, REG_PROTOCOL_REST, at_rest, 2 },
    };
    static const struct reg_endpoint internal[] = {
        { "classpath:org.example.rpc", REG_ADDRESS_HOST_PORT, REG_PROTOCOL_IPC, &at_rpc, 1 },
        { "none", REG_ADDRESS_URI, REG_PROTOCOL_REST, NULL, 0 },
    };

    (void)state;
    assert_printed(
        &(struct reg_record){ "YarnServiceMaster", of_service, 2, external, internal, 2, 2 },
        "endpoints");
}

static void odd_characters(void **state)
{
    static const struct reg_pair attribute = { "\u00e4\u20ac\U0001f600", "\u2028" };

    (void)state;
    assert_printed(
        &(struct reg_record){ "\" \\ / \b\t\n\f\r \x01\x1f\x7f \u00e4\u20ac\U0001f600 </script>",
                              &attribute, 1, NULL, NULL, 0, 0 },
        "odd");
}

/* The order of a map that grew several times. */
static void many_attributes(void **state)
{
    static char names[30][16], values[30][4];
    struct reg_pair attributes[30];

    (void)state;
    for (unsigned i = 0; i < SV_ARRAY_LEN(attributes); i++) {
        (void)snprintf(names[i], sizeof(names[i]), "attribute-%u", i);
        (void)snprintf(values[i], sizeof(values[i]), "%u", i);
        attributes[i] = (struct reg_pair){ names[i], values[i] };
    }
    assert_printed(&(struct reg_record){ NULL, attributes, 30, NULL, NULL, 0, 0 }, "many");
}

static void not_utf8(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(REG_RECORD_MAX);

    (void)state;
    assert_int_equal(reg_record_print(&(struct reg_record){ .description = "a\xff" }, &b), 0);
    assert_non_null(memmem(b.data, b.len, "\"a\xef\xbf\xbd\"", 6));
}

static void read_back(void **state)
{
    static const char *const names[] = { "service", "endpoints", "instance", "empty", "odd" };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    char text[4096];
    struct reg_record r;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        line_of(names[i], text, sizeof(text));
        assert_int_equal(reg_record_parse(text, strlen(text), a, &r, NULL), 0);
        assert_printed(&r, names[i]);
    }
    line_of("endpoints", text, sizeof(text));
    assert_int_equal(reg_record_parse(text, strlen(text), a, &r, NULL), 0);
    assert_int_equal(r.n_external, 2);
    assert_string_equal(r.external[1].addresses[1].fields[0].value, "http://n2:40001/ws");
    assert_string_equal(r.internal[0].protocol, REG_PROTOCOL_IPC);
}

/* Members that Hadoop's client takes, too. */
static void tolerated(void **state)
{
    static const char text[] =
        "{\"type\":\"JSONServiceRecord\",\"external\":null,\"n\":7,\"t\":true,"
        "\"internal\":[{\"api\":\"a\",\"addressType\":\"b\","
        "\"protocolType\":\"c\",\"addresses\":[],\"more\":1}]}";
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct reg_record r;

    (void)state;
    assert_int_equal(reg_record_parse(text, strlen(text), a, &r, NULL), 0);
    assert_null(r.description);
    assert_int_equal(r.n_external, 0);
    assert_int_equal(r.n_internal, 1);
    assert_int_equal(r.n_attributes, 2);
    assert_string_equal(r.attributes[0].value, "7");
    assert_string_equal(r.attributes[1].value, "true");
}

static void refused(void **state)
{
#define T "\"type\":\"JSONServiceRecord\""
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        { "", -ENODATA },
        { "127.0.0.1", -ENODATA }, /* what Curator stores in folders */
        { "{\"type\":\"other\"}", -ENODATA },
        { "{\"type\":\"x\",\"a\":\"JSONServiceRecord\"}", -EBADMSG },
        { "[\"JSONServiceRecord\"]", -EBADMSG },
        { "{" T, -EBADMSG },
        { "{" T "}x", -EBADMSG },
        { "{" T ",\"description\":1}", -EBADMSG },
        { "{" T ",\"external\":{}}", -EBADMSG },
        { "{" T ",\"external\":[1]}", -EBADMSG },
        { "{" T ",\"external\":[{\"api\":\"a\"}]}", -EBADMSG },
        { "{" T ",\"external\":[{\"api\":\"a\",\"addressType\":\"b\",\"protocolType\":\"c\"}]}",
          -EBADMSG },
        { "{" T ",\"external\":[{\"api\":\"a\",\"addressType\":\"b\",\"protocolType\":\"c\","
          "\"addresses\":[{\"a\":1}]}]}",
          -EBADMSG },
        { "{" T ",\"a\":null}", -EBADMSG },
    };
#undef T
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct reg_record r;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct sv_error err = { 0 };

        if (reg_record_parse(rows[i].text, strlen(rows[i].text), a, &r, &err) != rows[i].status)
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_int_equal(
            strncmp(err.text, rows[i].status == -ENODATA ? "no record" : "record: ", 8), 0);
    }
}

static void too_large(void **state)
{
    _cleanup_free_ char *text = malloc(REG_RECORD_MAX + 1);
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct reg_record r;

    (void)state;
    memset(text, ' ', REG_RECORD_MAX + 1);
    assert_int_equal(reg_record_parse(text, REG_RECORD_MAX + 1, a, &r, NULL), -EBADMSG);
}

static void paths(void **state)
{
    static const char *const users[] = { "alice", "My_User", "hdfs/host@REALM" };
    char service[REG_PATH_MAX + 1], component[REG_PATH_MAX + 1], name[64], wanted[256];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(users); i++) {
        (void)snprintf(name, sizeof(name), "path %s", users[i]);
        assert_int_equal(reg_service_path(users[i], REG_CLASS_YARN, "sleepers", service), 0);
        assert_int_equal(reg_component_path(service, ID, component), 0);
        assert_string_equal(component, line_of(name, wanted, sizeof(wanted)));
    }
    assert_int_equal(reg_component_path("/s", NULL, component), 0);
    assert_string_equal(component, "/s/components");
}

static void no_paths(void **state)
{
    char path[REG_PATH_MAX + 1], name[REG_NAME_MAX + 1], id[1024];

    (void)state;
    assert_int_equal(reg_user("", name), -EINVAL);
    assert_int_equal(reg_user("@REALM", name), -EINVAL);
    assert_int_equal(reg_user("\u00e4", name), -EINVAL);
    assert_int_equal(reg_user("a b", name), -EINVAL);
    assert_int_equal(reg_service_path("..", "c", "n", path), -EINVAL);
    assert_int_equal(reg_service_path("u", "c", "a/b", path), -EINVAL);
    assert_int_equal(reg_service_path("u", "c", "..", path), -EINVAL);
    assert_int_equal(reg_service_path("u", "c", "", path), -EINVAL);
    assert_int_equal(reg_component_path("/s", "../x", path), -EINVAL);
    memset(id, 'a', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    assert_int_equal(reg_encode_id(id, name), -ENAMETOOLONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_services),     cmocka_unit_test(of_instances),
        cmocka_unit_test(with_endpoints),  cmocka_unit_test(odd_characters),
        cmocka_unit_test(many_attributes), cmocka_unit_test(not_utf8),
        cmocka_unit_test(read_back),       cmocka_unit_test(tolerated),
        cmocka_unit_test(refused),         cmocka_unit_test(too_large),
        cmocka_unit_test(paths),           cmocka_unit_test(no_paths),
    };

    return cmocka_run_group_tests(tests, read_golden, free_golden);
}
