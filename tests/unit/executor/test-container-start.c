/* executor/container-start.c, with bash as the oracle: launch contexts of frameworks and generated
 * ones are run both ways, by bash and by container-start. What the job's program gets and leaves
 * must be equal: environment, arguments, directory, descriptors, signals, files and links, output,
 * exit status. The job's program is this one (probe()). SELVEDGE_CHECK=full: 500 contexts. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/str.h"
#include "executor/script.h"

/* Also the two readers alone, to count what they take. */
#include "executor/start-command.c"
#include "executor/start-script.c"

#define WORK "/work" /* below `top`, and so on */
#define LOGS "/logs"

static char top[] = "/tmp/selvedge-start-XXXXXX";
static char bin[64], start_program[PATH_MAX], debug_program[PATH_MAX];

/* ---- the job's program ------------------------------------------------------------------------*/

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_status(FILE *out)
{
    static const char *const wanted[] = { "SigBlk:", "SigIgn:", "Umask:", "NoNewPrivs:" };
    char line[256];
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof(line), f))
        for (size_t i = 0; i < SV_ARRAY_LEN(wanted); i++)
            if (sv_has_prefix(line, wanted[i]))
                (void)fputs(line, out);
    if (f)
        (void)fclose(f);
}

static void print_descriptors(FILE *out)
{
    char name[32], target[PATH_MAX];
    for (int fd = 0; fd < 64; fd++) {
        (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        ssize_t n = fd == fileno(out) ? -1 : readlink(name, target, sizeof(target) - 1);
        if (n > 0 && memcmp(target, "pipe:", 5) == 0)
            n = 5; /* its number is another one each time */
        if (n > 0)
            (void)fprintf(out, "%d %.*s %x\n", fd, (int)n, target, fcntl(fd, F_GETFL));
    }
}

/* Prints what it was given to the file that is named in its environment; the exit status depends on
 * it. */
static int probe(int argc, char **argv)
{
    char cwd[PATH_MAX];
    size_t n = 0;
    FILE *out = fopen(getenv("PROBE"), "we");
    if (!out || !getcwd(cwd, sizeof(cwd)))
        return 120;
    while (environ[n])
        n++;
    qsort(environ, n, sizeof(char *), by_text);
    for (size_t i = 0; i < n; i++)
        (void)fprintf(out, "%s\n", environ[i]);
    for (int i = 0; i < argc; i++)
        (void)fprintf(out, "[%s]\n", argv[i]);
    (void)fprintf(out, "%s\n", cwd);
    print_descriptors(out);
    print_status(out);
    (void)fclose(out);
    (void)printf("said\n");
    (void)fflush(stdout);
    (void)fprintf(stderr, "complained\n");
    if (argc > 1 && strcmp(argv[argc - 1], "killed") == 0)
        (void)kill(getpid(), SIGKILL);
    return argc * 7 % 120;
}

/* ---- both ways --------------------------------------------------------------------------------*/

static void at(char path[PATH_MAX], const char *tail)
{
    (void)snprintf(path, PATH_MAX, "%s%s", top, tail);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void remove_tree(const char *tail)
{
    char path[PATH_MAX];
    at(path, tail);
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static char *entries[4096];
static size_t n_entries;

static void note(const char *path, mode_t mode, const char *text, size_t n)
{
    assert_true(n_entries < SV_ARRAY_LEN(entries));
    assert_true(sv_asprintf(&entries[n_entries++], "%s %o %.*s\n", path, mode, (int)n, text) >= 0);
}

/* Type, mode, and the content of a file or link; a listing has times and inodes. */
static int note_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    char text[16384];
    ssize_t n = 0;
    int fd = -1;
    (void)type;
    (void)ftw;
    if (S_ISLNK(st->st_mode))
        n = readlink(path, text, sizeof(text));
    else if (S_ISREG(st->st_mode) && !strstr(path, "/directory.info") &&
             !strstr(path, WORK "/launch_") && (fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0)
        n = read(fd, text, sizeof(text));
    (void)sv_close(fd);
    note(path, st->st_mode, text, (size_t)SV_MAX(n, (ssize_t)0));
    return 0;
}

/* Numbers of the shells: they are others, and of other lengths. */
static void drop_pids(char *text)
{
    for (char *p = text; (p = strstr(p, "pid="));) {
        size_t n;

        p += 4;
        n = strspn(p, "0123456789");
        memmove(p, p + n, strlen(p + n) + 1);
    }
}

/* A shell that waits for its child says how a signal ended it, with the child's number: where the
 * program replaces the shell nobody does. */
static void drop_obituary(char *text)
{
    char *line = strstr(text, "/bin/bash: line 1: "), *end = line ? strchr(line, '\n') : NULL;
    if (end && memmem(line, (size_t)(end - line), " Killed ", 8))
        memmove(line, end + 1, strlen(end));
}

static int launch(const char *script, const char *work, bool by_bash)
{
    char *argv[] = { start_program, (char *)(uintptr_t)script, NULL };
    char *envp[] = { (char *)"PATH=/usr/local/bin:/usr/bin:/bin", NULL };
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        (void)umask(027);
        (void)signal(SIGPIPE, SIG_DFL);
        if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
            syscall(SYS_close_range, 3, ~0U, 0) < 0 || chdir(work) < 0)
            _exit(121);
        (void)execve(argv[by_bash], argv + by_bash, envp);
        _exit(122);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs the script in fresh directories of the same names and returns all that it has left behind;
 * malloc'd. */
static char *outcome(const struct sv_buf *script, bool by_bash)
{
    char work[PATH_MAX], logs[PATH_MAX], path[PATH_MAX + 32], *text;
    size_t size;
    remove_tree(WORK);
    remove_tree(LOGS);
    at(work, WORK);
    at(logs, LOGS);
    assert_return_code(mkdir(work, 0750), errno);
    assert_return_code(mkdir(logs, 0750), errno);
    (void)snprintf(path, sizeof(path), "%s/launch_container.sh", work);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_int_equal(write(fd, script->data, script->len), script->len);
    assert_return_code(close(fd), errno);
    note("exit", (mode_t)launch(path, work, by_bash), "", 0);
    assert_int_equal(nftw(work, note_one, 16, FTW_PHYS), 0);
    assert_int_equal(nftw(logs, note_one, 16, FTW_PHYS), 0);
    qsort(entries, n_entries, sizeof(char *), by_text);
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    while (n_entries > 0) {
        drop_pids(entries[--n_entries]);
        drop_obituary(entries[n_entries]);
        (void)fputs(entries[n_entries], f);
        free(entries[n_entries]);
    }
    (void)fclose(f);
    return text;
}

/* ---- contexts ---------------------------------------------------------------------------------*/

#define VARIABLES_MAX 40
#define LINKS_MAX 8

struct context {
    struct exe_env env[VARIABLES_MAX];
    size_t n_env;
    struct exe_link links[LINKS_MAX];
    size_t n_links;
    const char *command;
    bool debug, again;
};

static struct start_plan read_plan;
static struct start_command read_words;
static int scripts_read, commands_read, contexts_run;

static void count(const struct sv_buf *script)
{
    const struct start_shell shell = { "/bin", "/", 1 };
    char *text = strndup((const char *)script->data, script->len);
    assert_non_null(text);
    memset(&read_plan, 0, sizeof(read_plan));
    memset(&read_words, 0, sizeof(read_words));
    contexts_run++;
    if (start_read_script(text, script->len, &shell, &read_plan)) {
        scripts_read++;
        commands_read += start_read_command(read_plan.command, &read_words);
    }
    free(text);
}

static void add(struct context *c, const char *name, const char *value, enum exe_env_kind kind)
{
    assert_true(c->n_env < VARIABLES_MAX);
    c->env[c->n_env++] = (struct exe_env){ name, value, kind };
}

/* The NodeManager's own variables. */
static void add_own(struct context *c)
{
    static char work[PATH_MAX], out[PATH_MAX], path[PATH_MAX];
    at(work, WORK);
    at(out, LOGS "/probe");
    (void)snprintf(path, sizeof(path), "%s%s:/usr/bin:/bin", bin, c->debug ? "/" : "");
    add(c, "CONTAINER_ID", "container_1700000000000_0001_01_000002", EXE_ENV_LITERAL);
    add(c, "HOME", "/home/", EXE_ENV_LITERAL);
    add(c, "USER", "o'neil", EXE_ENV_LITERAL);
    add(c, "PWD", work, EXE_ENV_LITERAL);
    add(c, "JVM_PID", "pid=$$", EXE_ENV_EXPAND);
    add(c, "PROBE", out, EXE_ENV_LITERAL);
    add(c, "PATH", path, EXE_ENV_LITERAL);
}

static void equal_both_ways(struct context *c)
{
    struct sv_buf script = SV_BUF_INIT(1 << 20);
    struct sv_error err = { 0 };
    char logs[PATH_MAX];
    at(logs, LOGS);
    add_own(c);
    const struct exe_script s = { .env = c->env,
                                  .n_env = c->n_env,
                                  .links = c->links,
                                  .n_links = c->n_links,
                                  .again = c->again,
                                  .commands = &c->command,
                                  .n_commands = 1,
                                  .log_dir = logs,
                                  .add_opens = "--add-opens=java.base/java.lang=ALL-UNNAMED",
                                  .debug_info = c->debug,
                                  .debug_program = debug_program };
    assert_int_equal(exe_script_build(&s, &script, &err), 0);
    count(&script);
    char *want = outcome(&script, true), *got = outcome(&script, false);
    if (strcmp(want, got) != 0) {
        (void)fprintf(stderr, "%.*s\n---- bash:\n%s\n---- container-start:\n%s\n", (int)script.len,
                      (const char *)script.data, want, got);
        fail_msg("the two ways differ");
    }
    free(want);
    free(got);
    sv_buf_free(&script);
}

/* Launch contexts as the masters of frameworks compose them. */
static void test_frameworks(void **state)
{
    static const struct {
        const char *name, *command;
        const char *env[6][2];
    } masters[] = {
        { "MapReduce's master",
          "$JAVA_HOME/bin/java -Djava.io.tmpdir=$PWD/tmp "
          "-Dlog4j.configuration=container-log4j.properties "
          "-Dyarn.app.container.log.dir=<LOG_DIR> -Dyarn.app.container.log.filesize=0 "
          "-Dhadoop.root.logger=INFO,CLA -Xmx1024m <ADD_OPENS> "
          "org.apache.hadoop.mapreduce.v2.app.MRAppMaster 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr ",
          { { "CLASSPATH", "$PWD:job.jar/*:job.jar/classes/:job.jar/lib/*:$PWD/*:$NOT_SET/conf" },
            { "LD_LIBRARY_PATH", "$PWD:{{HADOOP_COMMON_HOME}}/lib/native" },
            { "HADOOP_COMMON_HOME", "/opt/hadoop" },
            { "SHELL", "/bin/bash" },
            { "MALLOC_ARENA_MAX", "$MALLOC_ARENA_MAX" } } },
        { "a map",
          "$JAVA_HOME/bin/java -Djava.net.preferIPv4Stack=true -Dhadoop.metrics.log.level=WARN "
          "-Xmx820m -Djava.io.tmpdir=$PWD/tmp -Dhadoop.root.logfile=syslog "
          "org.apache.hadoop.mapred.YarnChild 127.0.0.1 34567 "
          "attempt_1700000000000_0001_m_000000_0 2 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr ",
          { { "STDOUT_LOGFILE_ENV", "<LOG_DIR>/stdout" },
            { "HADOOP_ROOT_LOGGER", "INFO,console" },
            { "HADOOP_CLIENT_OPTS", "" } } },
        { "Spark's master",
          "{{JAVA_HOME}}/bin/java -server -Xmx1024m -Djava.io.tmpdir={{PWD}}/tmp "
          "'-XX:OnOutOfMemoryError=kill %p' -Dspark.yarn.app.container.log.dir=<LOG_DIR> "
          "org.apache.spark.deploy.yarn.ApplicationMaster --class 'org.example.Pi' "
          "--jar file:/tmp/a.jar --arg '10' --arg 'it'\\''s $5' --properties-file "
          "{{PWD}}/__spark_conf__/__spark_conf__.properties 1> <LOG_DIR>/stdout 2> "
          "<LOG_DIR>/stderr",
          { { "SPARK_USER", "spark" },
            { "CLASSPATH", "{{PWD}}<CPS>{{PWD}}/__spark_conf__<CPS>{{PWD}}/__spark_libs__/*" },
            { "SPARK_YARN_STAGING_DIR", "hdfs://nn:8020/user/spark/.sparkStaging/x" },
            { "PYTHONHASHSEED", "0" } } },
        { "an executor of Spark",
          "{{JAVA_HOME}}/bin/java -server -Xmx2048m -Djava.io.tmpdir={{PWD}}/tmp "
          "'-Dspark.driver.port=40001' -XX:OnOutOfMemoryError='kill %p' "
          "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend --driver-url "
          "spark://CoarseGrainedScheduler@host:40001 --executor-id 1 --cores 1 --app-id "
          "application_1700000000000_0001 --resourceProfileId 0 1><LOG_DIR>/stdout "
          "2><LOG_DIR>/stderr",
          { { "SPARK_LOG_URL_STDOUT", "http://h:8042/node/containerlogs/c/u/stdout?start=-4096" },
            { "SPARK_EXECUTOR_DIRS", "$LOCAL_DIRS" },
            { "LOCAL_DIRS", "/l1,/l2" } } },
        { "Tez",
          "$JAVA_HOME/bin/java -Xmx819m -server -Djava.net.preferIPv4Stack=true "
          "-Dhadoop.metrics.log.level=WARN -XX:+PrintGCDetails -verbose:gc "
          "-Dlog4j.configuratorClass=org.apache.tez.common.TezLog4jConfigurator "
          "org.apache.tez.dag.app.DAGAppMaster --session 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr  ",
          { { "CLASSPATH", "$PWD:$PWD/*:$PWD/tezlib/*:$HADOOP_CONF_DIR:" },
            { "TEZ_AM_LOG", "a\tb" } } },
        { "Flink",
          "$JAVA_HOME/bin/java -Xmx469762048 -Xms469762048 -XX:MaxMetaspaceSize=268435456 "
          "-Dlog.file=\"<LOG_DIR>/jobmanager.log\" -Dlogback.configurationFile=file:logback.xml "
          "org.apache.flink.yarn.entrypoint.YarnSessionClusterEntrypoint -D "
          "jobmanager.memory.off-heap.size=134217728b 1> <LOG_DIR>/jobmanager.out 2> "
          "<LOG_DIR>/jobmanager.err",
          { { "_FLINK_CLASSPATH", ":lib/a.jar:lib/b.jar" },
            { "_CLIENT_HOME_DIR", "hdfs:///user/x" },
            { "HADOOP_USER_NAME", "x" } } },
        { "DistributedShell",
          "$JAVA_HOME/bin/java -Xmx100m org.apache.Master --num_containers 2 --priority 0 "
          "1><LOG_DIR>/AppMaster.stdout 2><LOG_DIR>/AppMaster.stderr",
          { { "DISTRIBUTEDSHELLSCRIPTLOCATION", "" }, { "YARN_SHELL_ID", "1" } } },
        { "one for a shell",
          "cd tmp || java 1 && exec java 2 \"$JAVA_HOME\" | cat; exit 9",
          { { 0 } } },
        { "an alternative", "java a || java b 2>&1", { { 0 } } },
        { "selvedge run", "exec java 1 '2 3' 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr", { { 0 } } },
        { "exec with --", "exec -- 'java' 'a' \"b\" >><LOG_DIR>/both 2>&1", { { 0 } } },
        { "a builtin", "true", { { 0 } } },
        { "exec of a builtin's name", "exec false", { { 0 } } },
        { "nothing of the name",
          "no-such-program a 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr",
          { { 0 } } },
        { "nothing at the path", "/no/such/program 2><LOG_DIR>/stderr", { { 0 } } },
        { "a directory", "/usr a", { { 0 } } },
        { "not executable", "./container_tokens", { { 0 } } },
        { "no directory for the output", "java 1>/no/such/dir 2><LOG_DIR>/stderr", { { 0 } } },
        { "variables of bash", "java", { { "LC_ALL", "C" }, { "IFS", ":" }, { "A", "$UID" } } },
        { "bash reads a file first", "java", { { "BASH_ENV", "/no/such/file" } } },
        { "many redirections", "java >a >>b 2>c 2>&1 1>&2", { { 0 } } },
        { "a number that is a word", "java '2'>a 22 2>b", { { 0 } } },
        { "an empty word", "java '' \"\" a''b", { { 0 } } },
        { "an assignment", "A=1 java 1>a", { { 0 } } },
        { "patterns", "java * ? {a,b} ~ [x] #c", { { 0 } } },
        { "a job's name", "%java a 1>a", { { 0 } } },
    };
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(masters); i++) {
        struct context c = { .command = masters[i].command, .debug = i % 2 };
        for (size_t k = 0; k < 6 && masters[i].env[k][0]; k++)
            add(&c, masters[i].env[k][0], masters[i].env[k][1], EXE_ENV_EXPAND);
        char home[64];
        (void)snprintf(home, sizeof(home), "%s/java", top);
        add(&c, "JAVA_HOME", home, EXE_ENV_WHITELIST);
        add(&c, "HADOOP_CONF_DIR", "/etc/hadoop", EXE_ENV_WHITELIST);
        add(&c, "LANG", i % 8 == 7 ? "ja_JP.SJIS" : "C.UTF-8", EXE_ENV_WHITELIST);
        add(&c, "TZ", "Europe/Berlin", EXE_ENV_WHITELIST);
        c.links[c.n_links++] = (struct exe_link){ "/usr/share", "__spark_libs__" };
        c.links[c.n_links++] = (struct exe_link){ "/etc/hostname", "sub/dir/job.jar" };
        equal_both_ways(&c);
    }
    assert_true(scripts_read >= 19);
    assert_true(commands_read >= 11);
}

/* ---- generated --------------------------------------------------------------------------------*/

static uint32_t seed = 4711;
static uint32_t rnd(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

#define PICK(list) list[rnd(SV_ARRAY_LEN(list))]

/* Some parts of a list one after another, into a buffer that lasts for the context. */
static const char *compose(const char *const *parts, size_t n, uint32_t up_to, const char *between)
{
    static char texts[64][1024];
    static size_t next;
    char *text = texts[next++ % SV_ARRAY_LEN(texts)];
    size_t len = 0;
    text[0] = '\0';
    for (uint32_t i = rnd(up_to + 1); i > 0; i--)
        len += (size_t)snprintf(text + len, 1024 - len, "%s%s", len ? between : "",
                                parts[rnd((uint32_t)n)]);
    return text;
}

static struct context generate(void)
{
    static const char *const names[] = { "A",         "B",     "C",        "D1",
                                         "LONG_NAME", "PATHS", "HOSTNAME", "LOGNAME" };
    static const char *const values[] = {
        "$A",        "${B}",     "$C/x",     "{{D1}}", "$NOT_SET", "${LONG_NAME}",
        "$PWD",      "$USER",    "text",     " ",      "a b",      "<CPS>",
        "<LOG_DIR>", "'",        "\"",       "\\",     "\\\\",     "\\$",
        "$/",        "|pid=$$;", "{",        "}",      "*",        "~",
        "#",         "!",        "=",        ";",      "|",        "%",
        "\t",        "\n",       "\303\244", "-",      "--",       "/",
        ":",         ","
    };
    static const char *const rare[] = { "`echo x`", "$(echo y)", "${A:-z}", "$1",      "$?",
                                        "$#",       "${#A}",     "$'q'",    "$((1+2))" };
    static const char *const programs[] = { "java",      "java",         "java",
                                            "exec java", "exec -- java", "$JAVA_HOME/bin/java",
                                            "./java",    "A=b java",     "if",
                                            "echo",      "env java",     "nothing" };
    static const char *const words[] = { "a",
                                         "-Xmx1g",
                                         "-Da=b",
                                         "'single $A'",
                                         "\"double\"",
                                         "\"$A\"",
                                         "$A",
                                         "x'y'z",
                                         "%p",
                                         "@a",
                                         "a:b",
                                         "1",
                                         "22",
                                         "1>o1",
                                         "2>o2",
                                         "2>&1",
                                         ">o3",
                                         ">>o3",
                                         "1>><LOG_DIR>/o4",
                                         "> o5",
                                         "killed" };
    static const char *const odd[] = { "*",   "; java 2",    "&& java 3", "|| true", "| cat",
                                       "\\a", "{a,b}",       "~",         "#",       "$(echo q)",
                                       "<o1", "2>/dev/null", "&>o6",      ">|o7",    "3>o8",
                                       "a=~", "!x",          "\303\244" };
    static const char *const links[] = { "l1",         "l2",   "d/l3", "d/e/l4",          "l1/in",
                                         "with space", "it's", "-f",   "container_tokens" };
    static const char *const targets[] = { "/usr", "/etc/hostname", "/no/such", "rel'x",
                                           "/tmp/a b" };
    struct context c = { .debug = rnd(2), .again = rnd(8) == 0 };
    for (uint32_t n = rnd(9); n > 0; n--)
        add(&c, PICK(names), rnd(12) ? compose(values, SV_ARRAY_LEN(values), 6, "") : PICK(rare),
            rnd(6) == 0   ? EXE_ENV_LITERAL
            : rnd(6) == 0 ? EXE_ENV_WHITELIST
                          : EXE_ENV_EXPAND);
    add(&c, "JAVA_HOME", compose((const char *const[]){ top, "/java" }, 2, 0, ""), EXE_ENV_LITERAL);
    static char home[64];
    (void)snprintf(home, sizeof(home), "%s/java", top);
    c.env[c.n_env - 1].value = home;
    for (uint32_t n = rnd(5); n > 0; n--)
        c.links[c.n_links++] = (struct exe_link){ PICK(targets), PICK(links) };
    static char command[4096];
    (void)snprintf(command, sizeof(command), "%s %s %s %s", PICK(programs),
                   compose(words, SV_ARRAY_LEN(words), 6, " "), rnd(3) ? "" : PICK(odd),
                   rnd(2) ? "" : "1><LOG_DIR>/stdout 2><LOG_DIR>/stderr");
    c.command = command;
    return c;
}

static void test_generated(void **state)
{
    const char *check = getenv("SELVEDGE_CHECK");
    const int n = check && strcmp(check, "full") == 0 ? 500 : 30;
    (void)state;
    contexts_run = scripts_read = commands_read = 0;
    for (int i = 0; i < n; i++) {
        struct context c = generate();
        equal_both_ways(&c);
    }
    (void)printf("# %d contexts, %d scripts and %d commands without a shell\n", contexts_run,
                 scripts_read, commands_read);
    assert_true(scripts_read > n / 2 && scripts_read < n); /* both kinds are tried */
    assert_true(commands_read > n / 8 && commands_read < scripts_read);
}

/* ---- main
 * ---------------------------------------------------------------------------------------*/

static int set_up(void **state)
{
    char self[PATH_MAX], path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 64);
    (void)state;
    assert_true(n > 0);
    self[n] = '\0';
    assert_non_null(mkdtemp(top));
    (void)snprintf(bin, sizeof(bin), "%s/java/bin", top);
    (void)snprintf(path, sizeof(path), "%s/java", top);
    assert_return_code(mkdir(path, 0755), errno);
    assert_return_code(mkdir(bin, 0755), errno);
    (void)snprintf(path, sizeof(path), "%s/java", bin);
    assert_return_code(symlink(self, path), errno);
    (void)snprintf(path, sizeof(path), "%s/%%java", bin);
    assert_return_code(symlink(self, path), errno);
    char *tests = strstr(self, "/tests/unit/");
    assert_non_null(tests);
    *tests = '\0';
    (void)snprintf(start_program, sizeof(start_program), "%.4000s/container-start", self);
    (void)snprintf(debug_program, sizeof(debug_program), "%.4000s/container-debug-info", self);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_tree("");
    return 0;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frameworks),
        cmocka_unit_test(test_generated),
    };
    if (getenv("PROBE"))
        return probe(argc, argv);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
