/* Tests common/conf.c and conf-xml.c: Hadoop's rules, and hostile documents. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/conf-xml.h"
#include "common/conf.h"
#include "common/fd.h"
#include "common/str.h"

static struct sv_error err;

#define DOC(inside) "<?xml version=\"1.0\"?>\n<configuration>" inside "</configuration>\n"
#define PROP(name, value) "<property><name>" name "</name><value>" value "</value></property>"

#define _cleanup_conf_ _cleanup_(sv_conf_freep)

static int load(struct sv_conf *c, const char *xml)
{
    err = (struct sv_error){ 0 };
    return sv_conf_load_string(c, xml, strlen(xml), "t.xml", &err);
}

static struct sv_conf *loaded(const char *xml)
{
    struct sv_conf *c = sv_conf_new();

    assert_non_null(c);
    if (load(c, xml) != 0)
        fail_msg("%s", err.text);
    return c;
}

static void refused(const char *xml, const char *text)
{
    _cleanup_conf_ struct sv_conf *c = sv_conf_new();

    assert_true(load(c, xml) < 0);
    if (!strstr(err.text, text))
        fail_msg("\"%s\" lacks \"%s\"", err.text, text);
    assert_true(err.code < 0);
}

static void test_plain(void **state)
{
    _cleanup_conf_ struct sv_conf *c = loaded(
        "<?xml version='1.0' encoding='UTF-8'?><?xml-stylesheet type='text/xsl' href='c.xsl'?>\n"
        "<!-- licence -->\n<configuration>\n <property>\n  <name> a.b </name>\n"
        "  <value>x &lt;&amp;&#65; <![CDATA[<&>]]> <!-- c -->y</value>\n"
        "  <description>with <b>markup</b></description><source>who</source>\n </property>\n"
        "<property name='short' value='1&amp;2&lt;&#38;' final='true'/>"
        "<property><name>no.value</name></property>"
        "<property><name>empty</name><value/></property>" PROP("dup", "1")
            PROP("dup", "2") "</configuration>");

    (void)state;
    assert_string_equal(sv_conf_raw(c, "a.b"), "x <&A <&> y");
    assert_string_equal(sv_conf_raw(c, "short"), "1&2<&");
    assert_null(sv_conf_raw(c, "no.value"));
    assert_string_equal(sv_conf_raw(c, "empty"), "");
    assert_string_equal(sv_conf_raw(c, "dup"), "2");
    assert_null(sv_conf_raw(c, "nothing"));
}

static void test_final_and_order(void **state)
{
    _cleanup_conf_ struct sv_conf *c =
        loaded(DOC("<property><name>f</name><value>1</value><final>true</final></property>" PROP(
            "g", "1") PROP("f", "2")));

    (void)state;
    assert_int_equal(load(c, DOC(PROP("f", "3") PROP("g", "3"))), 0);
    assert_string_equal(sv_conf_raw(c, "f"), "1");
    assert_string_equal(sv_conf_raw(c, "g"), "3");
    assert_int_equal(sv_conf_set(c, "f", "4"), 0); /* the command line comes last */
    assert_string_equal(sv_conf_raw(c, "f"), "4");
    assert_int_equal(sv_conf_set(c, "", "4"), -EINVAL);
}

/* The command line wins over files that are loaded after it, and over those of a reload. */
static void test_overrides(void **state)
{
    _cleanup_conf_ struct sv_conf *c = loaded(DOC(PROP("a", "1") PROP("b", "1")));
    _cleanup_conf_ struct sv_conf *again = loaded(DOC(PROP("a", "2") PROP("b", "2")));

    (void)state;
    assert_int_equal(sv_conf_override(c, "a", "9"), 0);
    assert_int_equal(sv_conf_set(c, "b", "9"), 0);
    assert_int_equal(load(c, DOC(PROP("a", "3") PROP("b", "3"))), 0);
    assert_string_equal(sv_conf_raw(c, "a"), "9");
    assert_string_equal(sv_conf_raw(c, "b"), "3");
    assert_int_equal(sv_conf_copy_overrides(again, c), 0);
    assert_int_equal(load(again, DOC(PROP("a", "4") PROP("b", "4"))), 0);
    assert_string_equal(sv_conf_raw(again, "a"), "9");
    assert_string_equal(sv_conf_raw(again, "b"), "4");
    assert_int_equal(sv_conf_override(c, "", "4"), -EINVAL);
}

static void test_variables(void **state)
{
    _cleanup_conf_ struct sv_conf *c = loaded(DOC(
        PROP("base", "/data") PROP("dir", "${base}/nm") PROP("deep", "${dir}/${sub}")
            PROP("sub", "x") PROP("n", "b") PROP("nested", "${${n}ase}") PROP("undef", "a${zz}b")
                PROP("twice", "${base}${base}") PROP("odd", "${ a}$${}${base")
                    PROP("e1", "${env.SV_T_SET}") PROP("e2", "${env.SV_T_NONE}")
                        PROP("e3", "${env.SV_T_NONE:-d1}") PROP("e4", "${env.SV_T_NONE-d2}")
                            PROP("e5", "${env.SV_T_EMPTY:-d3}") PROP("e6", "${env.SV_T_EMPTY-d4}")
                                PROP("e7", "${env.SV_T_SET:-d5}") PROP("e8", "${env.SV_T_NONE-}")
                                    PROP("rm", "${yarn.resourcemanager.hostname}:8032")
                                        PROP("t", "${java.io.tmpdir}")));
    const char *first, *again;

    (void)state;
    assert_string_equal(sv_conf_raw(c, "deep"), "/data/nm/x");
    assert_string_equal(sv_conf_raw(c, "nested"), "/data");
    assert_string_equal(sv_conf_raw(c, "undef"), "a${zz}b");
    assert_string_equal(sv_conf_raw(c, "twice"), "/data/data");
    assert_string_equal(sv_conf_raw(c, "odd"), "${ a}$${}${base");
    assert_string_equal(sv_conf_raw(c, "e1"), "set");
    assert_string_equal(sv_conf_raw(c, "e2"), "${env.SV_T_NONE}");
    assert_string_equal(sv_conf_raw(c, "e3"), "d1");
    assert_string_equal(sv_conf_raw(c, "e4"), "d2");
    assert_string_equal(sv_conf_raw(c, "e5"), "d3");
    assert_string_equal(sv_conf_raw(c, "e6"), "");
    assert_string_equal(sv_conf_raw(c, "e7"), "set");
    assert_string_equal(sv_conf_raw(c, "e8"), "");
    assert_string_equal(sv_conf_raw(c, "rm"), "0.0.0.0:8032");
    assert_string_equal(sv_conf_raw(c, "t"), "/tmp");
    /* returned texts stay valid, and later changes are visible */
    first = sv_conf_raw(c, "deep");
    assert_int_equal(sv_conf_set(c, "sub", "y"), 0);
    again = sv_conf_raw(c, "deep");
    assert_string_equal(first, "/data/nm/x");
    assert_string_equal(again, "/data/nm/y");
    assert_ptr_equal(again, sv_conf_raw(c, "deep"));
}

static void test_variable_bombs(void **state)
{
    static const struct sv_conf_key k = { .name = "a", .type = SV_CONF_STRING };
    _cleanup_conf_ struct sv_conf *c = loaded(DOC(PROP("a", "${b}") PROP("b", "x${a}")));
    _cleanup_conf_ struct sv_conf *d = sv_conf_new();
    static char xml[400000], value[300000];
    const char *s = "untouched";

    (void)state;
    assert_null(sv_conf_raw(c, "a"));
    assert_int_equal(sv_conf_string(c, &k, &s, &err), -EINVAL);
    assert_non_null(strstr(err.text, "t.xml:2: a is"));
    assert_non_null(strstr(err.text, "20 substitutions"));
    assert_string_equal(s, "untouched");
    memset(value, 'v', sizeof(value) - 1);
    assert_true(snprintf(xml, sizeof(xml), DOC(PROP("x", "%s") PROP("a", "%s")), value,
                         "${x}${x}${x}${x}${x}${x}${x}${x}") < (int)sizeof(xml));
    assert_int_equal(load(d, xml), 0);
    assert_null(sv_conf_raw(d, "a"));
    assert_int_equal(sv_conf_string(d, &k, &s, &err), -EMSGSIZE);
}

static void test_typed(void **state)
{
    static const struct sv_conf_key i = { "i", SV_CONF_INT, "7", 1, 100, 0, "" },
                                    none = { .name = "none", .type = SV_CONF_INT },
                                    b = { .name = "b", .type = SV_CONF_BOOL, .def = "false" },
                                    f = { .name = "f", .type = SV_CONF_FLOAT, .def = "2.1" },
                                    d = { .name = "d", .type = SV_CONF_DURATION, .def = "10s" },
                                    p = { .name = "p",
                                          .type = SV_CONF_DURATION,
                                          .def = "600",
                                          .plain_unit_ms = 1000 },
                                    z = { .name = "z", .type = SV_CONF_SIZE, .def = "64m" },
                                    l = { .name = "l", .type = SV_CONF_LIST, .def = "a, b" },
                                    s = { .name = "s", .type = SV_CONF_STRING };
    _cleanup_conf_ struct sv_conf *c = sv_conf_new();
    _cleanup_strv_ char **list = NULL;
    const char *text = "";
    int64_t v;
    uint64_t u;
    double x;
    bool yes;

    (void)state;
    assert_int_equal(sv_conf_int(c, &i, &v, &err), 0);
    assert_int_equal(v, 7);
    assert_int_equal(sv_conf_int(c, &none, &v, &err), -ENODATA);
    assert_string_equal(err.text, "none is not set: expected a whole number");
    assert_int_equal(sv_conf_bool(c, &b, &yes, &err), 0);
    assert_false(yes);
    assert_int_equal(sv_conf_float(c, &f, &x, &err), 0);
    assert_true(x > 2.09 && x < 2.11);
    assert_int_equal(sv_conf_duration_ms(c, &d, &v, &err), 0);
    assert_int_equal(v, 10000);
    assert_int_equal(sv_conf_duration_ms(c, &p, &v, &err), 0);
    assert_int_equal(v, 600000);
    assert_int_equal(sv_conf_size(c, &z, &u, &err), 0);
    assert_int_equal(u, 64 << 20);
    assert_int_equal(sv_conf_list(c, &l, &list, &err), 0);
    assert_int_equal(sv_strv_len(list), 2);
    assert_int_equal(sv_conf_string(c, &s, &text, &err), 0);
    assert_null(text);

    assert_int_equal(
        load(c, "<configuration>\n\n" PROP("i", "\n 42\t ") "\n" PROP("b", " TRUE ") "\n" PROP(
                    "s", " a b ") PROP("d", "x") "</configuration>"),
        0);
    assert_int_equal(sv_conf_int(c, &i, &v, &err), 0);
    assert_int_equal(v, 42);
    assert_int_equal(sv_conf_bool(c, &b, &yes, &err), 0);
    assert_true(yes);
    assert_int_equal(sv_conf_string(c, &s, &text, &err), 0);
    assert_string_equal(text, "a b");
    assert_int_equal(sv_conf_duration_ms(c, &d, &v, &err), -EINVAL);
    assert_string_equal(err.text, "t.xml:6: d is \"x\": expected a duration such as 500ms, 30s, "
                                  "5m, 1h, 7d (milliseconds)");
    assert_int_equal(sv_conf_set(c, "i", "101"), 0);
    assert_int_equal(sv_conf_int(c, &i, &v, &err), -EINVAL);
    assert_string_equal(err.text,
                        "command line: i is \"101\": expected a whole number from 1 to 100");
    assert_int_equal(v, 42);
    assert_int_equal(sv_conf_set(c, "i", ""), 0);
    assert_int_equal(sv_conf_int(c, &i, &v, &err), -EINVAL);
    assert_int_equal(sv_conf_set(c, "b", "yes"), 0);
    assert_int_equal(sv_conf_bool(c, &b, &yes, &err), -EINVAL);
    assert_int_equal(sv_conf_set(c, "b", " "), 0);
    assert_int_equal(sv_conf_bool(c, &b, &yes, &err), 0);
    assert_false(yes);
    for (const char *const *bad =
             (const char *const[]){ "nan", "inf", "0x1p3", "", "1.2.3", "e", "1e999", "1,5", NULL };
         *bad; bad++) {
        assert_int_equal(sv_conf_set(c, "f", *bad), 0);
        assert_int_equal(sv_conf_float(c, &f, &x, &err), -EINVAL);
    }
    assert_int_equal(sv_conf_set(c, "z", "99999999999g"), 0);
    assert_int_equal(sv_conf_size(c, &z, &u, &err), -EINVAL);
}

static void test_address(void **state)
{
    static const struct sv_conf_key a = { .name = "a",
                                          .type = SV_CONF_ADDRESS,
                                          .def = "${yarn.nodemanager.hostname}:8041" },
                                    n = { .name = "n", .type = SV_CONF_ADDRESS };
    static const char *const bad[] = { "",      ":1",   "h:",    "h:65536",    "h:-1", "h:x",
                                       "a b:1", "[::1", "h:1:2", "http://h:1", "[]:5", "h/p" };
    _cleanup_conf_ struct sv_conf *c = sv_conf_new();
    const char *host = "";
    uint16_t port = 1;

    (void)state;
    assert_int_equal(sv_conf_address(c, &a, &host, &port, &err), 0);
    assert_string_equal(host, "0.0.0.0");
    assert_int_equal(port, 8041);
    assert_int_equal(sv_conf_set(c, "a", " node-1.x "), 0);
    assert_int_equal(sv_conf_address(c, &a, &host, &port, &err), 0);
    assert_string_equal(host, "node-1.x");
    assert_int_equal(port, 8041);
    assert_int_equal(sv_conf_set(c, "a", "[::1]:0"), 0);
    assert_int_equal(sv_conf_address(c, &a, &host, &port, &err), 0);
    assert_string_equal(host, "::1");
    assert_int_equal(port, 0);
    assert_int_equal(sv_conf_address(c, &n, &host, &port, &err), -ENODATA);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        assert_int_equal(sv_conf_set(c, "a", bad[i]), 0);
        assert_int_equal(sv_conf_address(c, &a, &host, &port, &err), -EINVAL);
    }
}

static void test_refused_documents(void **state)
{
    (void)state;
    refused("<!DOCTYPE c [<!ENTITY a 'x'>]>\n<configuration/>", "DOCTYPE is refused");
    refused("<!DOCTYPE configuration SYSTEM \"file:///etc/passwd\"><configuration/>",
            "t.xml:1: a DOCTYPE is refused");
    refused("<!DOCTYPE c [<!ENTITY % x SYSTEM 'http://127.0.0.1:1/'> %x;]><configuration/>",
            "DOCTYPE");
    refused("<configuration xmlns:xi='http://www.w3.org/2001/XInclude'>\n"
            "<xi:include href='/etc/passwd'/></configuration>",
            "t.xml:2: <xi:include> is refused");
    refused("<configuration>\n<xi:include href='x'/></configuration>", "<xi:include> is refused");
    refused("<configuration xmlns:q='http://www.w3.org/2001/XInclude'><q:include/>"
            "</configuration>",
            "is refused");
    refused(DOC("<property><name>&x;</name></property>"), "t.xml:2: ");
    refused("<conf/>", "expected <configuration>");
    refused(DOC("\n<propery/>"), "t.xml:3: <propery>: expected <property>");
    refused(DOC("<property><value>1</value></property>"), "without <name>");
    refused(DOC("<property><name> </name></property>"), "without <name>");
    refused(DOC("<property><name>a</name><value>x<b/>y</value></property>"), "expected text only");
    refused(DOC("<property><name>a</name><final>maybe</final></property>"),
            "a: <final> is \"maybe\": expected true or false");
    refused(DOC("<property><description><a><b><c><d><e><f/></e></d></c></b></a></description>"
                "</property>"),
            "<f>: elements are nested deeper than 8");
    refused("", "t.xml:");
    refused("   ", "t.xml:");
    refused("<configuration>", "t.xml:1: ");
    refused("<configuration></configuration>x", "t.xml:1: ");
    refused("name=value\n", "t.xml:1: ");
    refused("\x7f"
            "ELF",
            "t.xml:1: ");
    refused(DOC(PROP("a", "\xff\xfe")), "t.xml:2: ");
}

static void test_depth_bomb(void **state)
{
    enum { N = 200000 };
    static char xml[3 * N + 64];
    char *at = stpcpy(xml, "<configuration><property>");

    (void)state;
    for (int i = 0; i < N; i++)
        at = stpcpy(at, "<a>");
    refused(xml, "<a>: elements are nested deeper than 8");
}

static void test_limits(void **state)
{
    static char xml[SV_CONF_XML_MAX_VALUE + 4096];
    char *at = xml;

    (void)state;
    at = stpcpy(at, "<configuration><property><name>");
    memset(at, 'n', SV_CONF_XML_MAX_NAME + 1);
    (void)stpcpy(at + SV_CONF_XML_MAX_NAME + 1, "</name></property></configuration>");
    refused(xml, "<name> is longer than 1024 bytes");
    at = stpcpy(xml, "<configuration><property><name>a</name><value>");
    memset(at, 'v', SV_CONF_XML_MAX_VALUE + 1);
    (void)stpcpy(at + SV_CONF_XML_MAX_VALUE + 1, "</value></property></configuration>");
    refused(xml, "<value> is longer than");
}

static void test_files(void **state)
{
    char dir[] = "/tmp/selvedge-test-conf.XXXXXX", path[64];
    _cleanup_conf_ struct sv_conf *c = sv_conf_new(), *d = sv_conf_new();
    _cleanup_close_ int fd = -1, parent = open("/tmp", O_PATH | O_CLOEXEC);
    static const char core[] = DOC(PROP("a", "core") PROP("b", "core")),
                      site[] = DOC(PROP("b", "site"));

    (void)state;
    assert_non_null(mkdtemp(dir));
    fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(sv_conf_load_hadoop(c, dir, &err), 0); /* both missing */
    assert_int_equal(err.code, 0);
    assert_int_equal(sv_write_file_atomic(fd, "core-site.xml", core, sizeof(core) - 1, 0644), 0);
    assert_int_equal(sv_write_file_atomic(fd, "yarn-site.xml", site, sizeof(site) - 1, 0644), 0);
    assert_int_equal(setenv("HADOOP_CONF_DIR", dir, 1), 0);
    assert_int_equal(sv_conf_load_hadoop(c, NULL, &err), 0);
    assert_string_equal(sv_conf_dir(c), dir);
    assert_string_equal(sv_conf_raw(c, "a"), "core");
    assert_string_equal(sv_conf_raw(c, "b"), "site");
    assert_int_equal(sv_conf_load_hadoop(d, "/nonexistent", &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent: "));
    assert_true(snprintf(path, sizeof(path), "%s/big.xml", dir) < (int)sizeof(path));
    (void)sv_close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(truncate(path, (off_t)SV_CONF_XML_MAX_BYTES + 1), 0);
    assert_int_equal(sv_conf_load_file(d, path, &err), -EFBIG);
    assert_int_equal(sv_conf_load_file(d, dir, &err), -EISDIR);
    assert_int_equal(sv_remove_tree_at(parent, strrchr(dir, '/') + 1), 0);
}

static int collect(const char *name, const char *value, void *userdata)
{
    char *out = userdata;
    size_t n = strlen(out);

    return snprintf(out + n, 100 - n, "%s=%s;", name, value) < 0;
}

static void test_each(void **state)
{
    _cleanup_conf_ struct sv_conf *c =
        loaded(DOC(PROP("z", "${a}") PROP("a", "1") PROP("m", "${m}")));
    char out[100] = "";

    (void)state;
    assert_int_equal(sv_conf_each(c, collect, out), 0);
    assert_string_equal(out, "a=1;m=${m};z=1;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),          cmocka_unit_test(test_final_and_order),
        cmocka_unit_test(test_overrides),      cmocka_unit_test(test_variables),
        cmocka_unit_test(test_variable_bombs), cmocka_unit_test(test_typed),
        cmocka_unit_test(test_address),        cmocka_unit_test(test_refused_documents),
        cmocka_unit_test(test_depth_bomb),     cmocka_unit_test(test_limits),
        cmocka_unit_test(test_files),          cmocka_unit_test(test_each),
    };

    assert_int_equal(setenv("SV_T_SET", "set", 1), 0);
    assert_int_equal(setenv("SV_T_EMPTY", "", 1), 0);
    assert_int_equal(unsetenv("SV_T_NONE"), 0);
    return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
