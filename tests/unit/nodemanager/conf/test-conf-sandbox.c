/* nodemanager/conf/conf-sandbox.c: what jobs miss, from class paths and the daemon's environment.
 * Directories that every Linux has in the place of Hadoop's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/str.h"
#include "nodemanager/conf/conf-sandbox.h"

#define CLASS_PATH "yarn.application.classpath"
#define LINE "selvedge.sandbox.read-only-paths="

static char dir[] = "/tmp/selvedge-test-sandbox-XXXXXX";
static char unit[64], mapred[64];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    (void)snprintf(unit, sizeof(unit), "%s/unit", dir);
    (void)snprintf(mapred, sizeof(mapred), "%s/mapred-site.xml", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(unit) < 0 || rmdir(dir) < 0;
}

static void write_to(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

struct found {
    char text[4096], line[1024];
};

static void collect(const char *text, const char *line, void *userdata)
{
    struct found *f = userdata;
    const size_t n = strlen(f->text);

    (void)snprintf(f->text + n, sizeof(f->text) - n, "%s\n", text);
    if (line)
        (void)snprintf(f->line, sizeof(f->line), "%s", line);
}

/* Findings with these settings, "key=value", and this environment of the unit. */
static struct found find(const char *environment, const char *const *settings)
{
    char *overrides[8] = { (char *)(uintptr_t) "yarn.nodemanager.hostname=127.0.0.1" };
    struct found f = { .line = "" };
    struct sv_error err = { 0 };
    struct nm_conf c;

    write_to(unit, environment);
    for (unsigned i = 0; settings[i]; i++)
        overrides[i + 1] = (char *)(uintptr_t)settings[i];
    if (nm_conf_load(&c, dir, overrides, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(nm_conf_each_unseen(&c, unit, "/nowhere", collect, &f), 0);
    nm_conf_free(&c);
    return f;
}

#define FIND(environment, ...) find(environment, (const char *const[]){ __VA_ARGS__, NULL })

static void expect(const struct found *f, const char *words)
{
    if (!strstr(f->text, words))
        fail_msg("\"%s\" is not in:\n%s", words, f->text);
}

static void test_class_path(void **state)
{
    struct found f = FIND("HADOOP_CONF_DIR=/etc/default\nHADOOP_COMMON_HOME=\"/usr\"\n",
                          CLASS_PATH "=$HADOOP_CONF_DIR,${HADOOP_COMMON_HOME}/share/*,"
                                     "{{HADOOP_HDFS_HOME}}/x/*,$PWD/x,rel/*,/etc/skel/*.jar,"
                                     "$HADOOP_HDFS_HOME/y,${hdp.version}/z,/nowhere/at/all/*");

    (void)state;
    expect(&f, CLASS_PATH ": the NodeManager gives containers no HADOOP_HDFS_HOME, hdp.version: ");
    expect(&f, "containers of profile strict do not see /etc/default (" CLASS_PATH
               "), /etc/skel (" CLASS_PATH ")\n");
    assert_string_equal(f.line, LINE "/etc/default,/etc/skel");
    assert_null(strstr(f.text, "PWD"));
    f = FIND("HADOOP_CONF_DIR=/etc/default\n", CLASS_PATH "=$HADOOP_CONF_DIR",
             "selvedge.nodemanager.sandbox.profile=hadoop");
    assert_string_equal(f.text, "");
}

/* A variable that the whitelist does not name is not the job's. */
static void test_whitelist(void **state)
{
    struct found f = FIND("HADOOP_CONF_DIR=/etc/default\n", CLASS_PATH "=$HADOOP_CONF_DIR",
                          "yarn.nodemanager.env-whitelist=JAVA_HOME");

    (void)state;
    expect(&f, "gives containers no HADOOP_CONF_DIR: ");
    assert_string_equal(f.line, "");
}

static void test_defaults(void **state)
{
    struct found f = FIND("HADOOP_CONF_DIR=/usr\n", "a=b");

    (void)state;
    expect(&f, "default of " CLASS_PATH ": the NodeManager gives containers no "
               "HADOOP_COMMON_HOME, HADOOP_HDFS_HOME, HADOOP_YARN_HOME: ");
    assert_string_equal(f.line, "");
}

static void test_java_and_socket(void **state)
{
    struct found f = FIND("JAVA_HOME=/etc/default\n", CLASS_PATH "=/usr/*",
                          "dfs.domain.socket.path=/run/selvedge-none/dn._PORT");

    (void)state;
    expect(&f,
           "do not see /etc/default (JAVA_HOME), /run/selvedge-none (dfs.domain.socket.path)\n");
    assert_string_equal(f.line, LINE "/etc/default,/run/selvedge-none");
    f = FIND("JAVA_HOME=/nowhere/jdk\n", CLASS_PATH "=/usr/*", "dfs.domain.socket.path=/etc/dn");
    expect(&f, "/nowhere/jdk (JAVA_HOME) is not on this node\n");
    expect(&f, "/etc (dfs.domain.socket.path) cannot be shown to containers of profile strict: ");
    assert_string_equal(f.line, "");
}

static void test_mapreduce(void **state)
{
    struct found f;

    (void)state;
    write_to(mapred, "<configuration><property><name>mapreduce.application.classpath</name>"
                     "<value>$HADOOP_MAPRED_HOME/*,$HADOOP_MAPRED_HOME/none/*</value></property>"
                     "<property><name>yarn.app.mapreduce.am.env</name>"
                     "<value>A=b, HADOOP_MAPRED_HOME=/etc/skel</value></property></configuration>");
    f = FIND("", CLASS_PATH "=/usr/*");
    assert_string_equal(f.text, "containers of profile strict do not see /etc/skel "
                                "(mapreduce.application.classpath)\n");
    write_to(mapred, "<configuration><property><name>mapreduce.framework.name</name>"
                     "<value>yarn</value></property></configuration>");
    f = FIND("", CLASS_PATH "=/usr/*");
    expect(&f, "default of mapreduce.application.classpath: the NodeManager gives containers no "
               "HADOOP_MAPRED_HOME: ");
    write_to(mapred, "<configuration>");
    f = FIND("", CLASS_PATH "=/usr/*");
    expect(&f, "mapred-site.xml:");
    assert_int_equal(unlink(mapred), 0);
}

/* Values that refer to each other end, and so does a long list. */
static void test_bounds(void **state)
{
    char many[8192] = CLASS_PATH "=/usr";
    size_t n = strlen(many);
    struct found f = FIND("HADOOP_HOME=$HADOOP_HOME\nHADOOP_CONF_DIR=${HADOOP_CONF_DIR}x\n",
                          CLASS_PATH "=$HADOOP_HOME/x,$HADOOP_CONF_DIR,${,$,{{A,/etc/default");

    (void)state;
    assert_string_equal(f.line, LINE "/etc/default");
    for (unsigned i = 0; i < 200; i++)
        n += (size_t)snprintf(many + n, sizeof(many) - n, ",/run/none-%u,$V%u", i, i);
    f = FIND("", many);
    expect(&f, " V11 and others: ");
    expect(&f, " and 20 more\n");
    expect(&f, "\n156 more paths cannot be shown to containers\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_path), cmocka_unit_test(test_whitelist),
        cmocka_unit_test(test_defaults),   cmocka_unit_test(test_java_and_socket),
        cmocka_unit_test(test_mapreduce),  cmocka_unit_test(test_bounds),
    };

    /* The daemon's environment is the unit's; cmocka reads its own variable. */
    const char *output = getenv("CMOCKA_MESSAGE_OUTPUT");
    _cleanup_free_ char *kept = output ? strdup(output) : NULL;

    (void)clearenv();
    if (kept)
        (void)setenv("CMOCKA_MESSAGE_OUTPUT", kept, 1);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
