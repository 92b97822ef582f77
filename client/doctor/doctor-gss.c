/* See doctor-gss.h. The command line is linked to no library of Kerberos, and each start of it
 * would pay for one (ADR 41): selvedge-gss looks at keytabs and asks the KDC. Hostile: its output,
 * which has texts of KDCs. */
#include "client/doctor/doctor-gss.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/doctor/doctor-gss-unit.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "gss/findings.h"
#include "gss/keytab-check.h"

#define AREA "Kerberos"
#define PATIENCE_MS 30000 /* one KDC that is away costs libkrb5 up to 27 s */
#define OUTPUT_MAX 65536
#define FIELDS 4
#define WORDS_MAX (4 + 2 * 2 + 2 * SGSS_KEYTABS_MAX) /* of its arguments, without directories */

/* ---- Its lines ---- */

static int state_of(const char *word)
{
    static const char *const words[] = { "ok", "note", "weak", "bad" };

    for (size_t i = 0; i < SV_ARRAY_LEN(words); i++)
        if (sv_streq(word, words[i]))
            return (int)i;
    return -1;
}

/* The report keeps areas as literals. */
static const char *area_of(const char *word)
{
    static const char *const areas[] = { SGSS_AREA_CONF, SGSS_AREA_KDC, SGSS_AREA_KEYTAB };

    for (size_t i = 0; i < SV_ARRAY_LEN(areas); i++)
        if (sv_streq(word, areas[i]))
            return areas[i];
    return NULL;
}

bool cli_doctor_gss_line(struct doctor *d, char *line)
{
    char *fields[FIELDS];
    const char *area;
    int state;

    for (size_t i = 0; i < FIELDS; i++)
        if (!(fields[i] = strsep(&line, "\t")))
            return false;
    state = state_of(fields[0]);
    area = area_of(fields[1]);
    if (line || state < 0 || !area)
        return false;
    cli_doctor_report(d, (enum doctor_state)state, area, *fields[3] ? fields[3] : NULL, "%s",
                      fields[2]);
    return true;
}

/* A line of another form says why the program could not check. */
static void report_lines(struct doctor *d, char *text)
{
    for (char *line; (line = strsep(&text, "\n"));) {
        char first[256];

        (void)snprintf(first, sizeof(first), "%s", line);
        if (*line && !cli_doctor_gss_line(d, line))
            cli_doctor_report(d, DOCTOR_BAD, AREA, "install selvedge-nodemanager again",
                              "selvedge-gss: %s", first);
    }
}

/* ---- One run of it ---- */

/* As the account that reads the keytab: the unit's copy is root's, else it is the daemon's file. */
static bool become_reader(const struct doctor *d)
{
    return geteuid() != 0 || d->gss_socket || !d->have_daemon ||
           (setgroups(0, NULL) == 0 &&
            setresgid(d->daemon_gid, d->daemon_gid, d->daemon_gid) == 0 &&
            setresuid(d->daemon_uid, d->daemon_uid, d->daemon_uid) == 0);
}

static pid_t start(const struct doctor *d, char *const *argv, int out)
{
    char *no_environment[] = { NULL };
    pid_t pid = fork();
    int null;

    if (pid != 0)
        return pid;
    null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (become_reader(d) && dup2(null, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2)
        (void)execve(argv[0], argv, no_environment);
    _exit(127);
}

/* Reads up to the end; *ret_n also after a failure. -ETIMEDOUT, -EFBIG, -errno. */
static int read_output(int fd, char *buf, size_t size, size_t *ret_n)
{
    const int64_t end = sv_now_ms() + PATIENCE_MS;
    size_t n = 0;
    int r = 0;

    for (ssize_t got = 1; r == 0 && got != 0;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int64_t left = end - sv_now_ms();

        if (left <= 0)
            r = -ETIMEDOUT;
        else if (poll(&p, 1, (int)left) < 0)
            r = errno == EINTR ? 0 : -errno;
        else if (p.revents) {
            got = read(fd, buf + n, size - n);
            r = got >= 0 ? 0 : -errno;
            n += got > 0 ? (size_t)got : 0;
            if (n == size)
                r = -EFBIG;
        }
    }
    *ret_n = n;
    return r;
}

static void report_end(struct doctor *d, const char *program, int r, int status)
{
    if (r == -ETIMEDOUT)
        cli_doctor_report(d, DOCTOR_BAD, SGSS_AREA_KDC,
                          "see that krb5kdc runs, and that its port 88, TCP and UDP, can be "
                          "reached from this machine",
                          "no answer within %d s: the KDCs of krb5.conf, or its name servers, are "
                          "away",
                          PATIENCE_MS / 1000);
    else if (r < 0)
        cli_doctor_report(d, DOCTOR_BAD, AREA, NULL, "%s --check: %s", program, strerror(-r));
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        cli_doctor_report(d, DOCTOR_BAD, AREA, "install selvedge-nodemanager again",
                          "%s --check: ended with %s %d", program,
                          WIFEXITED(status) ? "status" : "signal",
                          WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static void run(struct doctor *d, char *const *argv)
{
    _cleanup_free_ char *text = calloc(1, OUTPUT_MAX + 1);
    int fds[2], status = 0, r;
    size_t n = 0;
    pid_t pid;

    if (!text || pipe2(fds, O_CLOEXEC) < 0) {
        cli_doctor_report(d, DOCTOR_NOTE, AREA, NULL, "krb5.conf, keytab and KDC: not checked: %s",
                          text ? strerror(errno) : "out of memory");
        return;
    }
    _cleanup_close_ int in = fds[0];
    pid = start(d, argv, fds[1]);
    r = pid < 0 ? -errno : 0;
    (void)sv_close(fds[1]);
    if (pid > 0) {
        r = read_output(in, text, OUTPUT_MAX, &n);
        if (r < 0)
            (void)kill(pid, SIGKILL);
        (void)waitpid(pid, &status, 0);
    }
    text[n] = '\0';
    report_lines(d, text);
    report_end(d, argv[0], r, status);
}

/* ---- Its command line ---- */

struct words {
    char *argv[WORDS_MAX + 2 * SGSS_LOCAL_DIRS_MAX + 1];
    size_t n;
};

static void add(struct words *w, const char *option, const char *value)
{
    if (!value)
        return;
    w->argv[w->n++] = (char *)(uintptr_t)option;
    w->argv[w->n++] = (char *)(uintptr_t)value;
}

static bool may_read_keytab(const struct doctor *d)
{
    return geteuid() == 0 || (!d->gss_socket && d->have_daemon && geteuid() == d->daemon_uid);
}

static void check(struct doctor *d, const char *program, char *const *keytabs)
{
    const struct nm_conf_kerberos *k = &d->conf.kerberos;
    struct words w = { .argv = { (char *)(uintptr_t)program, (char *)"--check" }, .n = 2 };
    char *const *dirs = d->conf.local_dirs;

    add(&w, "--krb5-conf", k->own.krb5_conf);
    if (may_read_keytab(d)) {
        add(&w, "--principal", k->own.principal);
        if (k->own.web_principal && !sv_streq(k->own.web_principal, "*"))
            add(&w, "--principal", k->own.web_principal);
        for (size_t i = 0; i < SGSS_KEYTABS_MAX && keytabs && keytabs[i]; i++)
            add(&w, "--keytab", keytabs[i]);
        for (size_t i = 0; i < SGSS_LOCAL_DIRS_MAX && dirs && dirs[i]; i++)
            add(&w, "--local-dir", dirs[i]);
    } else {
        cli_doctor_report(d, DOCTOR_NOTE, AREA, "run this as root",
                          "keytab and KDC: not checked: only %s may read the keytab",
                          d->gss_socket ? "root" : "root and the NodeManager's account");
    }
    run(d, w.argv);
}

/* ---- */

static bool check_program(struct doctor *d, const char *path)
{
    struct stat st;
    char buf[4096];
    const char *unsafe;

    if (stat(path, &st) < 0 || access(path, X_OK) < 0) {
        cli_doctor_report(
            d, DOCTOR_BAD, AREA, "install the package selvedge-nodemanager, or make install",
            "%s: %s: the NodeManager has no tickets without it", path, strerror(errno));
        return false;
    }
    unsafe = cli_doctor_find_unsafe(path, 0, buf, sizeof(buf));
    if (unsafe) {
        cli_doctor_report(d, DOCTOR_BAD, AREA, "chown root, chmod go-w",
                          "%s: others than root can write there and replace selvedge-gss", unsafe);
        return false;
    }
    return true;
}

void cli_doctor_gss(struct doctor *d)
{
    const char *program = d->conf.kerberos.own.helper ?: SELVEDGE_LIBEXECDIR "/selvedge-gss";
    _cleanup_strv_ char **keytabs = NULL;

    cli_doctor_gss_units(d, &keytabs);
    if (check_program(d, program))
        check(d, program, keytabs);
}
