/* selvedge-gss: the one process of a node that opens its keytab and talks to a KDC. A daemon starts
 * it, or systemd does with a connection of selvedge-gss.socket; descriptor 3 is the daemon's
 * socket. Hostile: the daemon's requests, and the tickets of strangers in them; arguments are the
 * daemon's or the unit's, and say which keytabs there are. */
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
#include "gss/keytab-check.h"
#include "gss/sandbox.h"
#include "gss/server.h"

#define DAEMON_FD 3
#define EXIT_USAGE 2

static const char usage[] =
    "Usage: selvedge-gss --keytab FILE [--keytab FILE ...] [--local-dir DIRECTORY ...]\n"
    "                    [--krb5-conf FILE]\n"
    "A daemon of Selvedge starts it with a socket as descriptor 3, or systemd does\n"
    "(selvedge-gss.socket). Names of keytabs without a / are credentials of the unit.\n";

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

static int parse(int argc, char **argv, struct sgss_keytabs *k, const char **ret_conf,
                 struct sv_error *err)
{
    static const struct option options[] = { { "keytab", required_argument, NULL, 'k' },
                                             { "local-dir", required_argument, NULL, 'l' },
                                             { "krb5-conf", required_argument, NULL, 'c' },
                                             { "help", no_argument, NULL, 'h' },
                                             { "version", no_argument, NULL, 'v' },
                                             { 0 } };
    int c, r = 0;

    while (r == 0 && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'k') {
            r = add_keytab(k, optarg, err);
        } else if (c == 'l' && k->n_local < SGSS_LOCAL_DIRS_MAX) {
            k->local_dirs[k->n_local++] = optarg;
        } else if (c == 'c') {
            *ret_conf = optarg;
        } else if (c == 'h' || c == 'v') {
            (void)fputs(c == 'h' ? usage : "selvedge-gss " SV_VERSION "\n", stdout);
            exit(0);
        } else {
            (void)fputs(usage, stderr);
            exit(EXIT_USAGE);
        }
    }
    if (r == 0 && (optind < argc || k->n == 0)) {
        (void)fputs(usage, stderr);
        exit(EXIT_USAGE);
    }
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

int main(int argc, char **argv)
{
    static struct sgss_keytabs keytabs; /* as long as the threads */
    struct sgss_server *server;
    struct sv_error err = { 0 };
    const char *krb5_conf = NULL;
    char *credentials = getenv("CREDENTIALS_DIRECTORY");
    int r;

    sv_log_init("selvedge-gss");
    if (credentials)
        keytabs.credentials = strdup(credentials); /* clearenv() below */
    r = parse(argc, argv, &keytabs, &krb5_conf, &err);
    if (r == 0)
        r = check_socket(&err);
    if (r == 0)
        r = set_environment(krb5_conf, &err);
    if (r == 0)
        r = sgss_sandbox_files(&err);
    if (r == 0) {
        (void)signal(SIGPIPE, SIG_IGN); /* libkrb5 writes to connections of KDCs */
        look_at(&keytabs);
        r = sgss_server_new(DAEMON_FD, &keytabs, &server);
        if (r < 0)
            (void)sv_error_errno(&err, r, "threads");
    }
    if (r == 0)
        r = sgss_sandbox_calls(&err);
    if (r == 0)
        r = sgss_server_run(server, &err);
    if (r < 0)
        sv_log_err("%s", err.text);
    _exit(r < 0 ? 1 : 0); /* does not wait for the threads */
}
