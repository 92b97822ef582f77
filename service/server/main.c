/* selvedge-services: arguments, configuration, signals, the loop. server.c composes the rest. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "common/listen-fds.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/own-user.h"
#include "service/server/server.h"

/* Errors that another start would not cure: RestartPreventExitStatus= of the unit. */
#define EXIT_CONFIGURATION 4

static void usage(FILE *out)
{
    fputs("Usage: selvedge-services [OPTION]...\n"
          "YARN's services API: launches, changes and stops long-running services.\n\n"
          "  -c, --conf DIR     read core-site.xml and yarn-site.xml here\n"
          "                     (else $HADOOP_CONF_DIR, else /etc/hadoop/conf)\n"
          "  -D KEY=VALUE       set one key\n"
          "      --print-conf   print every key of the server and end\n"
          "  -h, --help         this text\n",
          out);
}

static int not_started(int r, const char *why)
{
    sv_log_err("not started: %s", why);
    (void)sd_notifyf(0, "STATUS=not started: %s", why); /* no service manager, ignoring */
    return r == -EINVAL || r == -EOPNOTSUPP || r == -EPERM || r == -EACCES || r == -ENOENT
               ? EXIT_CONFIGURATION
               : EXIT_FAILURE;
}

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

static int serve(sd_event *event, const struct svc_conf *conf, struct svc_spawner *spawner,
                 struct sv_error *err)
{
    struct sv_listen_fds *held = NULL;
    struct svc_server *server = NULL;
    int r = sv_listen_fds_receive(&held, err);

    if (r >= 0)
        r = svc_server_new(event, conf, held, spawner, &server, err);
    if (r >= 0)
        r = sd_event_add_io(event, NULL, svc_spawner_fd(spawner), EPOLLIN, on_spawner_gone, NULL);
    if (r >= 0) {
        sv_log_notice("services API on %s:%u", conf->host, svc_server_port(server));
        (void)sd_event_set_watchdog(event, true); /* 0 without a watchdog */
        (void)sd_notify(0, "READY=1");            /* no service manager, ignoring */
        sv_loop_watch();
        r = sv_loop_run(event);
        (void)sd_notify(0, "STOPPING=1");
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
        return not_started(r, err.text);
    (void)sv_own_user(); /* looked up before the loop runs */
    r = svc_spawner_new(&conf, &spawner, &err);
    if (r >= 0)
        r = sd_event_default(&event);
    if (r >= 0)
        r = sd_event_add_signal(event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
    if (r >= 0)
        r = sd_event_add_signal(event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
    if (r >= 0)
        r = serve(event, &conf, spawner, &err);
    if (r < 0)
        r = not_started(r, err.text[0] ? err.text : strerror(-r));
    event = sd_event_unref(event);
    (void)svc_spawner_free(spawner);
    svc_conf_free(&conf);
    return r;
}

/* 0: continue; else the exit status plus one. */
static int read_arguments(int argc, char **argv, struct sv_conf *conf, const char **ret_dir,
                          bool *ret_print)
{
    static const struct option options[] = { { "conf", required_argument, NULL, 'c' },
                                             { "print-conf", no_argument, NULL, 'p' },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    int c;

    while ((c = getopt_long(argc, argv, "c:D:h", options, NULL)) >= 0) {
        char *equals = c == 'D' ? strchr(optarg, '=') : NULL;

        if (c == 'c') {
            *ret_dir = optarg;
        } else if (c == 'p') {
            *ret_print = true;
        } else if (c == 'h') {
            usage(stdout);
            return EXIT_SUCCESS + 1;
        } else if (c == 'D' && equals) {
            *equals = '\0';
            if (sv_conf_override(conf, optarg, equals + 1) < 0)
                return EXIT_FAILURE + 1;
        } else {
            usage(stderr);
            return EXIT_FAILURE + 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    struct sv_error err = { 0 };
    const char *dir = NULL;
    bool print = false;
    int status;

    sv_log_init("services");
    if (!conf)
        return EXIT_FAILURE;
    status = read_arguments(argc, argv, conf, &dir, &print);
    if (status)
        return status - 1;
    if (sv_conf_load_hadoop(conf, dir, &err) < 0)
        return not_started(-EINVAL, err.text);
    if (print) {
        svc_conf_print(conf, stdout);
        return EXIT_SUCCESS;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return run(conf);
}
