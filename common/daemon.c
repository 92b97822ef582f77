/* See daemon.h. */
#include "common/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "common/log.h"
#include "common/loop-guard.h"

/* ---- Command line ---- */

static int mistake(const struct sv_daemon_options *o)
{
    (void)fputs(o->usage, stderr);
    return EXIT_FAILURE + 1;
}

static int set_key(const struct sv_daemon_options *o, char *text, struct sv_conf *conf)
{
    char *equals = strchr(text, '=');

    if (!equals)
        return mistake(o);
    *equals = '\0';
    return sv_conf_override(conf, text, equals + 1) < 0 ? EXIT_FAILURE + 1 : 0;
}

static void add_options(const struct option *more, struct option *all, size_t *n)
{
    for (; more && more->name && *n < SV_DAEMON_OPTIONS_MAX + 2; more++)
        all[(*n)++] = *more;
}

int sv_daemon_arguments(const struct sv_daemon_options *o, int argc, char **argv,
                        struct sv_conf *conf, const char **ret_dir)
{
    static const struct option common[] = { { "conf", required_argument, NULL, 'c' },
                                            { "help", no_argument, NULL, 'h' },
                                            { 0 } };
    struct option all[SV_DAEMON_OPTIONS_MAX + 3] = { 0 };
    size_t n = 0;
    int c, r = 0;

    add_options(common, all, &n);
    add_options(o->own, all, &n);
    while (r == 0 && (c = getopt_long(argc, argv, "c:D:h", all, NULL)) >= 0) {
        if (c == 'c')
            *ret_dir = optarg;
        else if (c == 'D')
            r = set_key(o, optarg, conf);
        else if (c >= SV_DAEMON_OPTION)
            r = o->take(c, optarg, o->userdata);
        else if (c != 'h')
            r = mistake(o);
        else
            r = fputs(o->usage, stdout) < 0 ? EXIT_FAILURE + 1 : EXIT_SUCCESS + 1;
    }
    return r;
}

/* ---- The end ---- */

int sv_daemon_exit_status(int error)
{
    static const int lasting[] = { EINVAL, EOPNOTSUPP,      EPERM,  EACCES,
                                   ENOENT, EPROTONOSUPPORT, ENOKEY, EUCLEAN };

    for (size_t i = 0; i < SV_ARRAY_LEN(lasting); i++)
        if (error == -lasting[i])
            return SV_EXIT_CONFIGURATION;
    return EXIT_FAILURE;
}

int sv_daemon_not_started(int error, const char *why)
{
    const char *text = why && *why ? why : strerror(-error);

    sv_log_err("not started: %s", text);
    (void)sd_notifyf(0, "STATUS=not started: %s", text); /* no service manager, ignoring */
    return sv_daemon_exit_status(error);
}

/* ---- The loop ---- */

int sv_daemon_event(sd_event **ret)
{
    sd_event *event = NULL;
    int r = sd_event_default(&event);

    if (r >= 0)
        r = sd_event_add_signal(event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
    if (r >= 0)
        r = sd_event_add_signal(event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
    if (r < 0) {
        sd_event_unref(event);
        return r;
    }
    *ret = event;
    return 0;
}

int sv_daemon_run(sd_event *event)
{
    int r;

    (void)sd_event_set_watchdog(event, true); /* 0 without a watchdog */
    (void)sd_notify(0, "READY=1");            /* no service manager, ignoring */
    sv_loop_watch();
    r = sv_loop_run(event);
    (void)sd_notify(0, "STOPPING=1");
    return r;
}
