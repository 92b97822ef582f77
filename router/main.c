/* selvedge-router: arguments, configuration, signals, the loop. router.c composes the rest. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/own-user.h"
#include "router/client-service.h"
#include "router/router.h"
#include "wire/ipc/ipc-server.h"

/* Errors that another start would not cure: RestartPreventExitStatus= of the unit. */
#define EXIT_CONFIGURATION 4

static void usage(FILE *out)
{
    fputs("Usage: selvedge-router [OPTION]...\n"
          "The Router of a YARN federation: one address for the clients of several clusters.\n\n"
          "  -c, --conf DIR         read core-site.xml and yarn-site.xml here\n"
          "                         (else $HADOOP_CONF_DIR, else /etc/hadoop/conf)\n"
          "  -D KEY=VALUE           set one key\n"
          "      --print-conf       print every key of the Router and end\n"
          "      --print-keys       print what becomes of each yarn.router key and end\n"
          "      --print-interfaces print what becomes of each RPC method and end\n"
          "  -h, --help             this text\n",
          out);
}

static bool is_configuration(int r)
{
    return r == -EINVAL || r == -EOPNOTSUPP || r == -EPERM || r == -EACCES || r == -ENOENT ||
           r == -ENOTSUP || r == -EPROTONOSUPPORT;
}

static int not_started(int r, const char *why)
{
    sv_log_err("not started: %s", why);
    (void)sd_notifyf(0, "STATUS=not started: %s", why); /* no service manager, ignoring */
    return is_configuration(r) ? EXIT_CONFIGURATION : EXIT_FAILURE;
}

static int run(struct sv_conf *conf)
{
    struct sv_error err = { 0 };
    struct router *router = NULL;
    sd_event *event = NULL;
    int r = sd_event_default(&event);

    (void)sv_own_user(); /* looked up before the loop runs */
    if (r >= 0)
        r = sd_event_add_signal(event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
    if (r >= 0)
        r = sd_event_add_signal(event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
    if (r >= 0)
        r = rtr_new(event, conf, &router, &err);
    if (r < 0) {
        sd_event_unref(event);
        return not_started(r, err.text[0] ? err.text : strerror(-r));
    }
    sv_log_notice("Router on %s:%u", router->conf.host, ipc_server_port(router->server));
    rtr_conf_log_unread(conf);
    (void)sd_event_set_watchdog(event, true); /* 0 without a watchdog */
    (void)sd_notify(0, "READY=1");            /* no service manager, ignoring */
    sv_loop_watch();
    r = sv_loop_run(event);
    (void)sd_notify(0, "STOPPING=1");
    rtr_free(router);
    sd_event_unref(event);
    return r >= 0 ? EXIT_SUCCESS : is_configuration(r) ? EXIT_CONFIGURATION : EXIT_FAILURE;
}

enum print { PRINT_NOTHING, PRINT_CONF = 256, PRINT_KEYS, PRINT_INTERFACES };

/* 0: continue; else the exit status plus one. */
static int read_arguments(int argc, char **argv, struct sv_conf *conf, const char **ret_dir,
                          enum print *ret_print)
{
    static const struct option options[] = { { "conf", required_argument, NULL, 'c' },
                                             { "print-conf", no_argument, NULL, PRINT_CONF },
                                             { "print-keys", no_argument, NULL, PRINT_KEYS },
                                             { "print-interfaces", no_argument, NULL,
                                               PRINT_INTERFACES },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    int c;

    while ((c = getopt_long(argc, argv, "c:D:h", options, NULL)) >= 0) {
        char *equals = c == 'D' ? strchr(optarg, '=') : NULL;

        if (c == 'c') {
            *ret_dir = optarg;
        } else if (c >= PRINT_CONF && c <= PRINT_INTERFACES) {
            *ret_print = (enum print)c;
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

static int print_or_run(struct sv_conf *conf, enum print print)
{
    switch (print) {
    case PRINT_CONF:
        rtr_conf_print(conf, stdout);
        return EXIT_SUCCESS;
    case PRINT_KEYS:
        rtr_conf_print_keys(stdout);
        return EXIT_SUCCESS;
    case PRINT_INTERFACES:
        for (const struct ipc_protocol *const *p = rtr_protocols; *p; p++)
            ipc_print_methods(stdout, *p);
        return EXIT_SUCCESS;
    case PRINT_NOTHING:
        break;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return run(conf);
}

int main(int argc, char **argv)
{
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    struct sv_error err = { 0 };
    const char *dir = NULL;
    enum print print = PRINT_NOTHING;
    int status;

    sv_log_init("router");
    if (!conf)
        return EXIT_FAILURE;
    status = read_arguments(argc, argv, conf, &dir, &print);
    if (status)
        return status - 1;
    if (sv_conf_load_hadoop(conf, dir, &err) < 0)
        return not_started(-EINVAL, err.text);
    return print_or_run(conf, print);
}
