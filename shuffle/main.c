/* selvedge-shuffle: serves map outputs to reducers, in place of Hadoop's ShuffleHandler. An
 * auxiliary service, started by the NodeManager (docs/design/aux-services.md); keeps its state in
 * memory, since the NodeManager announces all running jobs again after a restart. Hostile: reducers
 * and the files of jobs; the NodeManager is trusted. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "shuffle/aux-channel.h"
#include "shuffle/events.h"
#include "shuffle/sandbox.h"
#include "shuffle/server.h"
#include "shuffle/url-hash.h"

#define TICK_MS 1000
#define EXIT_RESTART 75 /* EX_TEMPFAIL: the NodeManager restarts the process */

static struct shf_service service;

static int set_up_tls(const json_t *init, struct sv_conf *conf, struct sv_error *err)
{
    int r;

    service.tls_in_kernel = service.conf.tls_sendfile;
    r = shf_init_tls(init, conf, &service.tls_in_kernel, &service.tls, err);
    if (r == 0 && service.tls_in_kernel)
        sv_log_notice("the kernel encrypts what is sent");
    return r;
}

/* Applies the message `init`, up to listening sockets. */
static int set_up(const json_t *init, struct shf_server **ret, struct sv_error *err)
{
    struct sv_conf *conf = sv_conf_new();
    int sockets[SHF_LISTEN_MAX], r = conf ? 0 : -ENOMEM;
    char ignored[2048];

    service.jobs = shf_jobs_new();
    service.cache = shf_index_cache_new(SHF_INDEX_CACHE_BYTES);
    if (r < 0 || !service.jobs || !service.cache)
        return sv_error_set(err, -ENOMEM, "out of memory");
    r = shf_init_properties(init, conf, err);
    if (r == 0)
        r = shf_conf_load(conf, &service.conf, ignored, sizeof(ignored), err);
    if (r == 0 && ignored[0])
        sv_log_warning("keys without effect: %s", ignored);
    if (r == 0 && service.conf.tls)
        r = set_up_tls(init, conf, err);
    if (r == 0)
        r = shf_init_dirs(init, &service.dirs, err);
    if (r == 0)
        r = shf_server_new(&service, sockets, shf_init_sockets(init, sockets), ret, err);
    (void)sv_conf_free(conf);
    return r;
}

/* The system call filter is installed last, on all threads. */
static int start(struct shf_server *server, struct sv_error *err)
{
    char hash[SHF_HASH_TEXT + 1];
    int r = shf_hash("", 0, "", 0, hash); /* OpenSSL reads its files before the sandbox */

    if (r < 0)
        return sv_error_errno(err, r, "HMAC-SHA1");
    r = shf_sandbox_files(&service.dirs, service.tls, err);
    if (r == 0)
        r = shf_server_start(server, err);
    return r < 0 ? r : shf_sandbox_calls(service.tls_in_kernel, err);
}

/* Builds Hadoop's ShuffleMetrics; NULL when out of memory. */
static json_t *metrics_of(struct shf_server *server)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "ShuffleOutputBytes",
                     (json_int_t)service.bytes_sent, "ShuffleOutputsOK",
                     (json_int_t)service.outputs_ok, "ShuffleOutputsFailed",
                     (json_int_t)service.outputs_failed, "ShuffleConnections",
                     (json_int_t)shf_server_connections(server), "ShuffleKernelTlsBytes",
                     (json_int_t)service.kernel_tls_bytes);
}

/* Handles all received events. 1: continue; 0: the NodeManager closed the channel; else -errno. */
static int on_channel(struct shf_channel *channel, struct shf_server *server)
{
    for (;;) {
        struct sv_error err = { 0 };
        json_t *event;
        int r = shf_channel_receive(channel, false, &event);

        if (r <= 0)
            return r == -EAGAIN ? 1 : r;
        r = shf_event(&service, event, &err);
        json_int_t seq = json_integer_value(json_object_get(event, "seq"));
        json_decref(event);
        if (r == -ESTALE)
            return r;
        r = r < 0 ? shf_channel_failed(channel, seq, err.text)
                  : shf_channel_done(channel, seq, metrics_of(server));
        if (r < 0)
            return 0;
    }
}

static int run(struct shf_channel *channel, struct shf_server *server)
{
    struct pollfd p[1 + SHF_LISTEN_MAX] = { { .fd = SHF_CHANNEL_FD, .events = POLLIN } };
    int sockets[SHF_LISTEN_MAX];
    size_t n = shf_server_sockets(server, sockets);
    int64_t next = 0;

    for (size_t i = 0; i < n; i++)
        p[1 + i] = (struct pollfd){ .fd = sockets[i], .events = POLLIN };
    for (;;) {
        int r = poll(p, 1 + n, TICK_MS);

        for (size_t i = 0; r > 0 && i < n; i++)
            if (p[1 + i].revents)
                shf_server_accept(server, p[1 + i].fd);
        if (r > 0 && p[0].revents) {
            r = on_channel(channel, server);
            if (r <= 0)
                return r;
        }
        if (sv_now_ms() >= next) {
            shf_server_tick(server);
            next = sv_now_ms() + TICK_MS;
        }
    }
}

static int begin(struct shf_channel *channel, struct shf_server **ret, struct sv_error *err)
{
    json_t *init = NULL;
    uint32_t port;
    int r = shf_channel_receive(channel, true, &init);

    if (r <= 0 || !sv_streq(json_string_value(json_object_get(init, "type")), "init"))
        return sv_error_set(err, -EBADMSG,
                            "descriptor 3: no message init of a NodeManager; the "
                            "NodeManager starts this program");
    if (json_integer_value(json_object_get(init, "protocol")) != 1)
        return sv_error_set(err, -EPROTONOSUPPORT,
                            "descriptor 3: unsupported protocol version, expected 1");
    r = set_up(init, ret, err);
    json_decref(init);
    if (r == 0)
        r = start(*ret, err);
    if (r < 0)
        return r;
    port = htonl(service.port);
    r = shf_channel_ready(channel, &port, sizeof(port));
    return r < 0 ? sv_error_errno(err, r, "descriptor 3") : 0;
}

int main(int argc, char **argv)
{
    struct shf_channel *channel;
    struct shf_server *server = NULL;
    struct sv_error err = { 0 };
    int r;

    (void)argv;
    sv_log_init("selvedge-shuffle");
    if (argc > 1) {
        (void)fprintf(stderr, "selvedge-shuffle: takes no arguments; the NodeManager starts it "
                              "(yarn.nodemanager.aux-services)\n");
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN); /* sendfile has no flag against it, ignoring the old handler */
    channel = shf_channel_new(SHF_CHANNEL_FD);
    if (!channel)
        return 1;
    r = begin(channel, &server, &err);
    if (r < 0) {
        sv_log_err("%s", err.text);
        (void)shf_channel_failed(channel, 0, err.text); /* the error is logged, ignoring */
        return 1;
    }
    sv_log_notice("serving map outputs on port %u%s", service.port, service.tls ? " with TLS" : "");
    r = run(channel, server);
    if (r == -ESTALE)
        sv_log_notice("a local directory was added: restarting to include it in the sandbox");
    else if (r < 0)
        sv_log_err("descriptor 3: %s", strerror(-r));
    _exit(r == 0 ? 0 : r == -ESTALE ? EXIT_RESTART : 1); /* does not wait for the threads */
}
