/* selvedge-gss: the one process of a node that opens its keytab and talks to a KDC. A daemon starts
 * it, or systemd does with a connection of selvedge-gss.socket; descriptor 3 is the daemon's
 * socket. `selvedge doctor` starts it with --check, for one look at krb5.conf, keytabs and KDC.
 * Hostile: the daemon's requests, and the tickets of strangers in them; arguments are the daemon's
 * or the unit's, and say which keytabs there are. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/version.h"
#include "gss/check.h"
#include "gss/keytab-check.h"
#include "gss/sandbox.h"
#include "gss/server.h"

#define DAEMON_FD 3
#define EXIT_USAGE 2

static const char usage[] =
    "Usage: selvedge-gss --keytab FILE [--keytab FILE ...] [--local-dir DIRECTORY ...]\n"
    "                    [--krb5-conf FILE]\n"
    "       selvedge-gss --check [--principal NAME ...] [--keytab FILE ...]\n"
    "                    [--local-dir DIRECTORY ...] [--krb5-conf FILE]\n"
    "A daemon of Selvedge starts it with a socket as descriptor 3, or systemd does\n"
    "(selvedge-gss.socket). Names of keytabs without a / are credentials of the unit.\n"
    "With --check it prints what is wrong with krb5.conf, keytabs and KDC, and ends.\n";

struct arguments {
    struct sgss_keytabs keytabs;
    struct sgss_check check;
    const char *krb5_conf; /* NULL: libkrb5's default */
    bool checks;
};

/* Variables of the krb5 library, such as KRB5_CONFIG, KRB5CCNAME, KRB5_KTNAME, KRB5_TRACE and
 * GSS_USE_PROXY, would change what it reads and writes: none is kept. */
static int set_environment(const char *krb5_conf, struct sv_error *err)
{
    if (clearenv() != 0 || setenv("LC_ALL", "C", 1) < 0 || setenv("PATH", "/usr/bin:/bin", 1) < 0 ||
        (krb5_conf && setenv("KRB5_CONFIG", krb5_conf, 1) < 0))
        return sv_error_set(err, -ENOMEM, "out of memory");
    return 0;
}

/* A keytab without a slash is one of LoadCredential=. */
static int add_keytab(struct sgss_keytabs *k, const char *name, struct sv_error *err)
{
    char *path = NULL;

    if (k->n == SGSS_KEYTABS_MAX)
        return sv_error_set(err, -E2BIG, "--keytab: more than %d", SGSS_KEYTABS_MAX);
    if (strchr(name, '/')) {
        k->paths[k->n++] = name;
        return 0;
    }
    if (!k->credentials)
        return sv_error_set(err, -ENOENT,
                            "--keytab %s: not a path, and systemd has passed no credentials", name);
    if (asprintf(&path, "%s/%s", k->credentials, name) < 0)
        return sv_error_set(err, -ENOMEM, "out of memory");
    k->paths[k->n++] = path; /* as long as the program */
    return 0;
}

_Noreturn static void refuse_usage(void)
{
    (void)fputs(usage, stderr);
    exit(EXIT_USAGE);
}

static int take_option(struct arguments *a, int c, struct sv_error *err)
{
    if (c == 'k')
        return add_keytab(&a->keytabs, optarg, err);
    if (c == 'l' && a->keytabs.n_local < SGSS_LOCAL_DIRS_MAX)
        a->keytabs.local_dirs[a->keytabs.n_local++] = optarg;
    else if (c == 'p' && a->check.n < SGSS_CHECKED_MAX)
        a->check.principals[a->check.n++] = optarg;
    else if (c == 'c')
        a->krb5_conf = optarg;
    else if (c == 'C')
        a->checks = true;
    else
        refuse_usage();
    return 0;
}

static int parse(int argc, char **argv, struct arguments *a, struct sv_error *err)
{
    static const struct option options[] = { { "keytab", required_argument, NULL, 'k' },
                                             { "local-dir", required_argument, NULL, 'l' },
                                             { "krb5-conf", required_argument, NULL, 'c' },
                                             { "check", no_argument, NULL, 'C' },
                                             { "principal", required_argument, NULL, 'p' },
                                             { "help", no_argument, NULL, 'h' },
                                             { "version", no_argument, NULL, 'v' },
                                             { 0 } };
    int c, r = 0;

    while (r == 0 && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'h' || c == 'v') {
            (void)fputs(c == 'h' ? usage : "selvedge-gss " SV_VERSION "\n", stdout);
            exit(0);
        }
        r = take_option(a, c, err);
    }
    if (r == 0 && (optind < argc || (!a->checks && (a->keytabs.n == 0 || a->check.n > 0))))
        refuse_usage();
    return r;
}

static int check_socket(struct sv_error *err)
{
    int domain, type;
    socklen_t n = sizeof(domain);

    if (getsockopt(DAEMON_FD, SOL_SOCKET, SO_DOMAIN, &domain, &n) < 0 ||
        getsockopt(DAEMON_FD, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || domain != AF_UNIX ||
        type != SOCK_SEQPACKET)
        return sv_error_set(err, -ENOTSOCK,
                            "descriptor 3: not a local socket of packets; a daemon or systemd "
                            "starts this program");
    return 0;
}

/* A keytab that is refused is said at the start, and again by each request that needs it. */
static void look_at(const struct sgss_keytabs *k)
{
    for (size_t i = 0; i < k->n; i++) {
        struct sv_error err = { 0 };

        if (sgss_keytab_check(k, k->paths[i], &err) < 0)
            sv_log_err("%s", err.text);
    }
}

/* The sandbox is there before a KDC's first answer. */
static int check(struct arguments *a, struct sv_error *err)
{
    int r = sgss_sandbox_calls(err);

    if (r < 0)
        return r;
    a->check.keytabs = &a->keytabs;
    a->check.krb5_conf = a->krb5_conf ? a->krb5_conf : "/etc/krb5.conf";
    sgss_check(&a->check);
    return 0;
}

static int serve(const struct sgss_keytabs *k, struct sv_error *err)
{
    struct sgss_server *server;
    int r;

    look_at(k);
    r = sgss_server_new(DAEMON_FD, k, &server);
    if (r < 0)
        return sv_error_errno(err, r, "threads");
    r = sgss_sandbox_calls(err);
    return r < 0 ? r : sgss_server_run(server, err);
}

int main(int argc, char **argv)
{
    static struct arguments a; /* as long as the threads */
    struct sv_error err = { 0 };
    char *credentials = getenv("CREDENTIALS_DIRECTORY");
    int r;

    sv_log_init("selvedge-gss");
    if (credentials)
        a.keytabs.credentials = strdup(credentials); /* clearenv() below */
    r = parse(argc, argv, &a, &err);
    if (r == 0 && !a.checks)
        r = check_socket(&err);
    if (r == 0)
        r = set_environment(a.krb5_conf, &err);
    if (r == 0)
        r = sgss_sandbox_files(&err);
    if (r == 0) {
        (void)signal(SIGPIPE, SIG_IGN); /* libkrb5 writes to connections of KDCs */
        r = a.checks ? check(&a, &err) : serve(&a.keytabs, &err);
    }
    if (r < 0)
        sv_log_err("%s", err.text);
    _exit(r < 0 ? 1 : 0); /* does not wait for the threads */
}
