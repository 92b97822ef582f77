/* aux-services/aux-conf.c: which program runs a class of Java, with an operator's lines for
 * Hadoop's NodeManager. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "nodemanager/aux-services/aux-class.h"
#include "nodemanager/aux-services/aux-conf.h"

#define NM "yarn.nodemanager.aux-services"
#define OWN "selvedge.nodemanager.aux-services"
#define SPARK "org.apache.spark.network.yarn.YarnShuffleService"

static char dir[] = "/tmp/selvedge-auxconf-XXXXXX";
static struct nm_conf conf;
static struct nm_aux_confs confs;

static void make(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    sv_close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755));
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    make("selvedge-java-service.jar");
    make("spark.jar");
    make("java");
    return setenv("PATH", dir, 1);
}

static int tear_down(void **state)
{
    static const char *const names[] = { "selvedge-java-service.jar", "spark.jar", "java" };
    char path[128];

    (void)state;
    nm_aux_conf_free(&confs);
    nm_conf_free(&conf);
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        unlink(path);
    }
    return rmdir(dir);
}

static void set(char *out, size_t size, const char *key, const char *value)
{
    snprintf(out, size, "%s=%s", key, value);
}

/* Reads the service spark_shuffle with one more line; its result. */
static int read_with(const char *key, const char *value, struct sv_error *err)
{
    char line[5][256];

    set(line[0], 256, "yarn.nodemanager.hostname", "127.0.0.1");
    set(line[1], 256, NM, "spark_shuffle");
    set(line[2], 256, NM ".spark_shuffle.class", SPARK);
    set(line[3], 256, OWN ".programs", dir);
    set(line[4], 256, key, value);
    char *const overrides[] = { line[0], line[1], line[2], line[3], line[4], NULL };

    nm_aux_conf_free(&confs);
    nm_conf_free(&conf);
    if (nm_conf_load(&conf, dir, overrides, err) < 0)
        fail_msg("%s", err->text);
    return nm_aux_conf_read(&conf, &confs, err);
}

static const struct nm_aux_conf *expect(const char *key, const char *value)
{
    struct sv_error err = { 0 };

    if (read_with(key, value, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(confs.n, 1);
    return &confs.list[0];
}

/* The arguments of the bridge are CLASS, CLASSPATH, HADOOP-CLASSPATH and options. */
static void a_class(void **state)
{
    const struct nm_aux_conf *c;
    char path[128];

    (void)state;
    c = expect(NM ".spark_shuffle.classpath", "/opt/spark/yarn/*");
    assert_null(c->missing);
    snprintf(path, sizeof(path), "%s/selvedge-java-service", dir);
    assert_string_equal(c->argv[0], path);
    assert_string_equal(c->argv[1], SPARK);
    snprintf(path, sizeof(path), "/opt/spark/yarn/*:%s", dir);
    assert_string_equal(c->argv[2], path);
    assert_string_equal(c->argv[3], "");
    assert_string_equal(c->argv[4], "-Xmx1g");
    assert_null(c->argv[5]);
    c = expect(OWN ".spark_shuffle.java-options", "-Xmx2g -Da=b");
    assert_string_equal(c->argv[2], dir); /* the configuration's alone */
    assert_string_equal(c->argv[4], "-Xmx2g");
    assert_string_equal(c->argv[5], "-Da=b");
    assert_string_equal(expect(OWN ".hadoop-classpath", "/h/*")->argv[3], "/h/*");
}

static void a_remote_class_path(void **state)
{
    static const char *const heads[] = { "file://", "file:", "" };
    const struct nm_aux_conf *c;
    char value[128], path[256];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(heads); i++) {
        snprintf(value, sizeof(value), "%s%s/spark.jar", heads[i], dir);
        snprintf(path, sizeof(path), "%s/spark.jar:%s", dir, dir);
        assert_string_equal(expect(NM ".spark_shuffle.remote-classpath", value)->argv[2], path);
    }
    c = expect(NM ".spark_shuffle.remote-classpath", "hdfs://nn/spark.jar");
    assert_null(c->argv);
    assert_string_equal(c->missing, NM
                        ".spark_shuffle.remote-classpath: hdfs://nn/spark.jar is not on this node, "
                        "nothing is downloaded: copy it and set " NM ".spark_shuffle.classpath");
    c = expect(NM ".spark_shuffle.remote-classpath", "/opt/spark.tgz");
    assert_non_null(strstr(c->missing, "/opt/spark.tgz is not a .jar, nothing is unpacked"));
    c = expect(NM ".spark_shuffle.remote-classpath", "file:///nowhere/spark.jar");
    assert_non_null(strstr(c->missing, "/nowhere/spark.jar: No such file or directory"));
}

static void both_class_paths(void **state)
{
    struct sv_error err = { 0 };
    char path[128];

    (void)state;
    snprintf(path, sizeof(path), "%s/yarn-site.xml", dir);
    FILE *f = fopen(path, "we");
    fputs("<configuration><property><name>" NM ".spark_shuffle.classpath</name><value>/a/*</value>"
          "</property></configuration>",
          f);
    fclose(f);
    assert_int_equal(read_with(NM ".spark_shuffle.remote-classpath", "/b.jar", &err), -EINVAL);
    assert_string_equal(err.text, NM ".spark_shuffle.classpath and " NM
                                     ".spark_shuffle.remote-classpath exclude each other");
    unlink(path);
}

/* An error names the missing program. */
static void nothing_to_run_it(void **state)
{
    const struct nm_aux_conf *c;

    (void)state;
    assert_string_equal(expect(OWN ".programs", "/nowhere")->missing,
                        "the class " SPARK
                        " needs /nowhere/selvedge-java-service.jar, which is not installed");
    setenv("PATH", "/nowhere", 1);
    c = expect(OWN ".hadoop-classpath", "/h/*");
    assert_string_equal(c->missing,
                        "the class " SPARK " needs Java, and there is none (JAVA_HOME)");
    setenv("PATH", dir, 1);
    c = expect(NM, "nothing_set");
    assert_non_null(strstr(c->missing, NM ".nothing_set.class"));
}

/* The part of systemd's filter for MemoryDenyWriteExecute=yes that every version of it has. */
static int deny_executable_memory(void)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { SV_ARRAY_LEN(f), f };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A Java virtual machine would fail with "insufficient memory". */
static void no_executable_memory(void **state)
{
    int status;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        bool denied = deny_executable_memory() == 0;
        const struct nm_aux_conf *c = expect(OWN ".hadoop-classpath", "/h/*");

        _exit(denied && c->missing && strstr(c->missing, "MemoryDenyWriteExecute=no") ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_null(expect(OWN ".hadoop-classpath", "/h/*")->missing);
}

static void count_missing(const char *text, void *userdata)
{
    int *n = userdata;

    assert_non_null(strstr(text, "its class " SPARK " is nowhere in its class path"));
    (*n)++;
}

static int missing_with(const char *key, const char *value)
{
    int n = 0;

    (void)expect(key, value);
    nm_aux_each_missing(&conf, count_missing, &n);
    return n;
}

/* A jar has the names of its files as they are. */
static void a_class_that_is_nowhere(void **state)
{
    static const char jar[] = "PK\3\4...org/apache/spark/network/yarn/YarnShuffleService.class...";
    char path[128], all[160], hadoop[300];
    int fd;

    (void)state;
    snprintf(path, sizeof(path), "%s/spark.jar", dir);
    snprintf(all, sizeof(all), "/nowhere:%s/*", dir);
    snprintf(hadoop, sizeof(hadoop), "%s/java:%s", dir, path);
    assert_int_equal(missing_with(OWN ".hadoop-classpath", "/nowhere/*"), 1);
    assert_int_equal(missing_with(OWN ".hadoop-classpath", hadoop), 1);
    assert_int_equal(missing_with(NM ".spark_shuffle.classpath", path), 0); /* Hadoop's: unknown */
    fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_int_equal(write(fd, jar, sizeof(jar)), sizeof(jar));
    sv_close(fd);
    assert_int_equal(missing_with(OWN ".hadoop-classpath", hadoop), 0);
    assert_int_equal(missing_with(OWN ".hadoop-classpath", all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class),
        cmocka_unit_test(a_remote_class_path),
        cmocka_unit_test(both_class_paths),
        cmocka_unit_test(nothing_to_run_it),
        cmocka_unit_test(no_executable_memory),
        cmocka_unit_test(a_class_that_is_nowhere),
    };

    unsetenv("JAVA_HOME");
    unsetenv("HADOOP_HOME");
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
