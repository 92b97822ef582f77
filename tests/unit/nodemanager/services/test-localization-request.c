/* Tests services/localization-request.c: which file a resource of a launch context means. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/services/localization-request.h"

static struct sv_error err;

/* The url, or NULL. */
static const char *convert(const char *scheme, const char *host, int port, const char *file)
{
    static struct sv_arena *a;
    Hadoop__Yarn__URLProto url = HADOOP__YARN__URLPROTO__INIT;
    Hadoop__Yarn__LocalResourceProto resource = HADOOP__YARN__LOCAL_RESOURCE_PROTO__INIT;
    Hadoop__Yarn__StringLocalResourceMapProto m =
        HADOOP__YARN__STRING_LOCAL_RESOURCE_MAP_PROTO__INIT;
    struct sv_conf *c = sv_conf_new();
    struct loc_resource ret;
    int r;

    sv_arena_free(a);
    a = sv_arena_new(0);
    assert_int_equal(sv_conf_set(c, "fs.defaultFS", "viewfs://cl/"), 0);
    assert_int_equal(sv_conf_set(c, "fs.viewfs.mounttable.cl.link./user", "hdfs://ns/u"), 0);
    url.scheme = (char *)(uintptr_t)scheme;
    url.host = (char *)(uintptr_t)host;
    url.file = (char *)(uintptr_t)file;
    url.has_port = port != 0;
    url.port = port;
    resource.resource = &url;
    resource.has_type = resource.has_visibility = 1;
    resource.type = HADOOP__YARN__LOCAL_RESOURCE_TYPE_PROTO__FILE;
    resource.visibility = HADOOP__YARN__LOCAL_RESOURCE_VISIBILITY_PROTO__PRIVATE;
    m.key = (char *)(uintptr_t) "link";
    m.value = &resource;
    r = nm_localization_convert(&m, c, a, &ret, &err);
    sv_conf_free(c);
    assert_true(r == 0 || err.code == r);
    return r == 0 ? ret.url : NULL;
}

static void test_urls(void **state)
{
    (void)state;
    assert_string_equal(convert("hdfs", "nn", 8020, "/a/f"), "hdfs://nn:8020/a/f");
    assert_string_equal(convert("hdfs", "ns", -1, "/a/f"), "hdfs://ns/a/f");
    assert_string_equal(convert("", "", 0, "/user/f"), "hdfs://ns/u/f");
    assert_string_equal(convert(NULL, NULL, 0, "/user/f"), "hdfs://ns/u/f");
    assert_string_equal(convert("viewfs", "cl", -1, "/user/a/f"), "hdfs://ns/u/a/f");
    assert_null(convert("viewfs", "cl", -1, "/nowhere/f"));
    assert_non_null(strstr(err.text, "local resource link: viewfs://cl/nowhere/f: no mount point"));
    assert_null(convert("viewfs", "cl", -1, "/user/../f"));
    assert_null(convert("har", "", 0, "/a.har/f"));
    assert_non_null(strstr(err.text, "Hadoop archives"));
    assert_null(convert("", "nn", 0, "/a/f"));
    assert_null(convert("hdfs", "nn", 0, "a/f"));
    assert_non_null(strstr(err.text, "malformed URL"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_urls) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
