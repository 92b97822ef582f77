/* selvedge-router: options, configuration, the loop. router.c composes the rest. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/daemon.h"
#include "common/log.h"
#include "common/own-user.h"
#include "router/client-service.h"
#include "router/router.h"
#include "wire/ipc/ipc-server.h"

static const char usage[] =
    "Usage: selvedge-router [OPTION]...\n"
    "The Router of a YARN federation: one address for the clients of several clusters.\n\n"
    "  -c, --conf DIR         read core-site.xml and yarn-site.xml here\n"
    "                         (else $HADOOP_CONF_DIR, else /etc/hadoop/conf)\n"
    "  -D KEY=VALUE           set one key\n"
    "      --check-config     whether the files are accepted, and end\n"
    "      --print-conf       print every key of the Router and end\n"
    "      --print-keys       print what becomes of each yarn.router key and end\n"
    "      --print-interfaces print what becomes of each RPC method and end\n"
    "  -h, --help             this text\n";

static int run(struct sv_conf *conf)
{
    struct sv_error err = { 0 };
    struct router *router = NULL;
    sd_event *event = NULL;
    int r;

    (void)sv_own_user(); /* looked up before the loop runs */
    r = sv_daemon_event(&event);
    if (r >= 0)
        r = rtr_new(event, conf, &router, &err);
    if (r < 0) {
        sd_event_unref(event);
        return sv_daemon_not_started(r, err.text);
    }
    sv_log_notice("Router on %s:%u", router->conf.host, ipc_server_port(router->server));
    rtr_conf_log_unread(conf);
    r = sv_daemon_run(event);
    rtr_free(router);
    sd_event_unref(event);
    return r >= 0 ? EXIT_SUCCESS : sv_daemon_exit_status(r);
}

enum print { PRINT_NOTHING, PRINT_CONF = SV_DAEMON_OPTION, PRINT_KEYS, PRINT_INTERFACES, CHECK };

static int take(int option, const char *argument, void *userdata)
{
    enum print *print = userdata;

    (void)argument;
    *print = (enum print)option;
    return 0;
}

static int check(struct sv_conf *conf)
{
    struct sv_error err = { 0 };

    if (rtr_check(conf, &err) < 0) {
        printf("refused: %s\n", err.text);
        return EXIT_FAILURE;
    }
    printf("%s: accepted. The port and the state store are tried at the start\n",
           sv_conf_dir(conf));
    return EXIT_SUCCESS;
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
    case CHECK:
        return check(conf);
    case PRINT_NOTHING:
        break;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return run(conf);
}

int main(int argc, char **argv)
{
    static const struct option own[] = { { "check-config", no_argument, NULL, CHECK },
                                         { "print-conf", no_argument, NULL, PRINT_CONF },
                                         { "print-keys", no_argument, NULL, PRINT_KEYS },
                                         { "print-interfaces", no_argument, NULL,
                                           PRINT_INTERFACES },
                                         { 0 } };
    enum print print = PRINT_NOTHING;
    const struct sv_daemon_options options = { usage, own, take, &print };
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    struct sv_error err = { 0 };
    const char *dir = NULL;
    int status;

    sv_log_init("router");
    if (!conf)
        return EXIT_FAILURE;
    status = sv_daemon_arguments(&options, argc, argv, conf, &dir);
    if (status)
        return status - 1;
    if (sv_conf_load_hadoop(conf, dir, &err) < 0)
        return sv_daemon_not_started(-EINVAL, err.text);
    return print_or_run(conf, print);
}
