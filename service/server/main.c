/* selvedge-services: options, configuration, the loop. server.c composes the rest. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/daemon.h"
#include "common/listen-fds.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/own-user.h"
#include "service/server/server.h"

static const char usage[] =
    "Usage: selvedge-services [OPTION]...\n"
    "YARN's services API: launches, changes and stops long-running services.\n\n"
    "  -c, --conf DIR     read core-site.xml and yarn-site.xml here\n"
    "                     (else $HADOOP_CONF_DIR, else /etc/hadoop/conf)\n"
    "  -D KEY=VALUE       set one key\n"
    "      --print-conf   print every key of the server and end\n"
    "  -h, --help         this text\n";

/* Without it no request can be answered: systemd starts the server again. */
static int on_spawner_gone(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)fd;
    (void)events;
    (void)userdata;
    sv_log_err("the process that starts requests has ended");
    return sd_event_exit(sd_event_source_get_event(s), EXIT_FAILURE);
}

/* Root becomes callers in the processes of requests, whose spawner was forked before; this process,
 * which reads what clients and masters send, needs no more than its account. With Kerberos it keeps
 * what it starts selvedge-gss with, again when that has ended. */
static int drop_privileges(const struct svc_conf *conf, struct sv_error *err)
{
    int r = geteuid() == 0 && !conf->kerberos.on ? sv_caps_drop_all(NULL) : 0;

    return r < 0 ? sv_error_errno(err, r, "dropping capabilities") : 0;
}

static int serve(sd_event *event, const struct svc_conf *conf, struct svc_spawner *spawner,
                 struct sv_error *err)
{
    struct sv_listen_fds *held = NULL;
    struct svc_server *server = NULL;
    int r = sv_listen_fds_receive(&held, err);

    if (r >= 0)
        r = svc_server_new(event, conf, held, spawner, &server, err);
    if (r >= 0)
        r = drop_privileges(conf, err);
    if (r >= 0)
        r = sd_event_add_io(event, NULL, svc_spawner_fd(spawner), EPOLLIN, on_spawner_gone, NULL);
    if (r >= 0) {
        sv_log_notice("services API on %s:%u", conf->host, svc_server_port(server));
        r = sv_daemon_run(event);
    }
    (void)svc_server_free(server);
    (void)sv_listen_fds_free(held);
    return r;
}

static int run(struct sv_conf *sv)
{
    struct sv_error err = { 0 };
    struct svc_conf conf;
    struct svc_spawner *spawner = NULL;
    sd_event *event = NULL;
    int r = svc_conf_read(sv, &conf, &err);

    if (r < 0)
        return sv_daemon_not_started(r, err.text);
    (void)sv_own_user(); /* looked up before the loop runs */
    r = svc_spawner_new(&conf, &spawner, &err);
    if (r >= 0)
        r = sv_daemon_event(&event);
    if (r >= 0)
        r = serve(event, &conf, spawner, &err);
    if (r < 0)
        r = sv_daemon_not_started(r, err.text);
    event = sd_event_unref(event);
    (void)svc_spawner_free(spawner);
    svc_conf_free(&conf);
    return r;
}

enum { PRINT_CONF = SV_DAEMON_OPTION };

static int take(int option, const char *argument, void *userdata)
{
    bool *print = userdata;

    (void)argument;
    *print = option == PRINT_CONF;
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option own[] = { { "print-conf", no_argument, NULL, PRINT_CONF }, { 0 } };
    bool print = false;
    const struct sv_daemon_options options = { usage, own, take, &print };
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    struct sv_error err = { 0 };
    const char *dir = NULL;
    int status;

    sv_log_init("services");
    if (!conf)
        return EXIT_FAILURE;
    status = sv_daemon_arguments(&options, argc, argv, conf, &dir);
    if (status)
        return status - 1;
    if (sv_conf_load_hadoop(conf, dir, &err) < 0)
        return sv_daemon_not_started(-EINVAL, err.text);
    if (print) {
        svc_conf_print(conf, stdout);
        return EXIT_SUCCESS;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return run(conf);
}
