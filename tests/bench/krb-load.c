/* Our side of `make bench-krb`: the IPC client with Kerberos at a real ResourceManager.
 *
 *   krb-load HELPER KRB5-CONF KEYTAB PRINCIPAL SERVER-PRINCIPAL PORT PROTECTION
 *
 * Stays resident, with its ticket, and takes a command a line: "connections N", each with a
 * handshake and one call, or "calls N" on one connection, one after the other. Answered by a line
 * of JSON: seconds, processor time of this process and of the helper, the helper's resident memory.
 * The Java side is tests/bench/java/KrbLoad.java. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/str.h"
#include "gss/client.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ipc/ipc-client.h"
#include "wire/sasl/qop.h"

static struct {
    sd_event *event;
    struct sgss_client *helper;
    struct ipc_client_config client;
    const char *server;
    bool answered;
} g;

static _Noreturn _printf_(1, 2) void die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fprintf(stderr, "krb-load: ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    va_end(ap);
    exit(1);
}

static int handshake(const struct ipc_kerberos *k, const char *host,
                     char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret)
{
    (void)host;
    snprintf(ret_server, IPC_PRINCIPAL_MAX, "%s", g.server);
    return sgss_client_initiator(g.helper, k->principal, g.server, ret);
}

/* ---- Calls ---- */

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)userdata;
    if (r->status < 0)
        die("getClusterMetrics: %s", err->text);
    g.answered = true;
}

static void call(struct ipc_client *c)
{
    const struct ipc_request q = {
        .method = "getClusterMetrics",
        .response = &hadoop__yarn__get_cluster_metrics_response_proto__descriptor,
    };

    g.answered = false;
    if (ipc_client_start(c, &q, on_answer, NULL, NULL) < 0)
        die("a call cannot be started");
    while (!g.answered)
        if (sd_event_run(g.event, UINT64_MAX) < 0)
            die("event loop");
}

static struct ipc_client *client_new(void)
{
    struct sv_error err = { 0 };
    struct ipc_client *c;

    if (ipc_client_new(g.event, &g.client, &c, &err) < 0)
        die("%s", err.text);
    return c;
}

static void connections(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        struct ipc_client *c = client_new();

        call(c);
        ipc_client_free(c);
    }
}

static void calls(uint64_t n)
{
    struct ipc_client *c = client_new();

    for (uint64_t i = 0; i < n; i++)
        call(c);
    ipc_client_free(c);
}

/* ---- Figures ---- */

/* The helper, the only child. */
static int helper_pid(void)
{
    char path[64];
    int pid = 0;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
    FILE *f = fopen(path, "re");
    if (!f || fscanf(f, "%d", &pid) != 1)
        die("there is no helper");
    fclose(f);
    return pid;
}

static FILE *open_proc(int pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    FILE *f = fopen(path, "re");
    if (!f)
        die("%s cannot be read", path);
    return f;
}

static double helper_cpu(int pid)
{
    unsigned long user, kernel;
    FILE *f = open_proc(pid, "stat");

    /* its name has no blank */
    if (fscanf(f, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) !=
        2)
        die("processor time of %d", pid);
    fclose(f);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

static long helper_rss_kib(int pid)
{
    char line[256];
    long kib = -1;
    FILE *f = open_proc(pid, "status");

    while (kib < 0 && fgets(line, sizeof(line), f))
        if (sscanf(line, "VmRSS: %ld", &kib) != 1)
            kib = -1;
    fclose(f);
    return kib;
}

static double own_cpu(void)
{
    struct rusage r;

    (void)getrusage(RUSAGE_SELF, &r); /* cannot fail, ignoring */
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

/* ---- Commands ---- */

static void command(const char *what, uint64_t n)
{
    int pid = helper_pid();
    int64_t start = sv_now_ms();
    double own = own_cpu(), helper = helper_cpu(pid);

    if (sv_streq(what, "calls"))
        calls(n);
    else
        connections(n);
    printf("{\"n\": %" PRIu64 ", \"seconds\": %.4f, \"cpu\": %.4f, \"helper_cpu\": %.4f, "
           "\"helper_rss_kib\": %ld}\n",
           n, (double)(sv_now_ms() - start) / 1000, own_cpu() - own, helper_cpu(pid) - helper,
           helper_rss_kib(pid));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct sv_error err = { 0 };
    char line[64], what[16];
    uint64_t port, n;
    uint32_t mask;

    if (argc != 8 || sv_parse_u64(argv[6], 1, 65535, &port) < 0 ||
        ipc_qop_parse(argv[7], &mask, &err) < 0 || sd_event_new(&g.event) < 0)
        die("wrong arguments");
    char *helper_argv[] = { argv[1], (char *)"--keytab", argv[3], (char *)"--krb5-conf", argv[2],
                            NULL };
    const struct ipc_kerberos k = { .principal = argv[4], .handshake = handshake };
    const struct sgss_client_config helper_cfg = { .event = g.event, .argv = helper_argv };

    g.server = argv[5];
    g.client = (struct ipc_client_config){
        .host = "127.0.0.1",
        .port = (uint16_t)port,
        .protocol = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB",
        .version = 1,
        .kerberos = &k,
        .qop_mask = mask,
    };
    if (sgss_client_new(&helper_cfg, &g.helper, &err) < 0)
        die("%s", err.text);
    while (fgets(line, sizeof(line), stdin))
        if (sscanf(line, "%15s %" SCNu64, what, &n) == 2)
            command(what, n);
    sgss_client_free(g.helper);
    sd_event_unref(g.event);
    return 0;
}
