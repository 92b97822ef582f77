/* selvedge-service-am: the ApplicationMaster of a long-running service, or of a
 * framework (service/am/README.md). */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "service/am/framework/master.h"
#include "service/am/master.h"

/* The NodeManager's signal before it kills the container: of an application that was killed, or of
 * this attempt alone, whose containers the next one takes over. Nothing is left to do. */
static int on_terminate(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)si;
    (void)userdata;
    return sd_event_exit(sd_event_source_get_event(s), 128 + SIGTERM);
}

static int run(const struct svc_am_options *options, struct sv_conf *conf, struct sv_error *err)
{
    struct svc_master *m = NULL;
    struct svc_fwm *framework = NULL;
    const struct svc_fwm_options of = { options->yarnfile, options->name, options->user,
                                        options->host };
    sd_event *event = NULL;
    int r = sd_event_new(&event);

    if (r >= 0)
        r = sd_event_add_signal(event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, on_terminate,
                                NULL);
    if (r < 0)
        (void)sv_error_errno(err, r, "event loop");
    else
        r = options->framework ? svc_fwm_new(event, &of, conf, &framework, err)
                               : svc_master_new(event, options, conf, &m, err);
    if (r >= 0) {
        sv_loop_watch();
        r = sv_loop_run(event);
        if (r < 0)
            (void)sv_error_errno(err, r, "event loop");
    }
    svc_master_free(m);
    svc_fwm_free(framework);
    sd_event_unref(event);
    return r;
}

int main(int argc, char **argv)
{
    struct svc_am_options options;
    struct sv_error err = { 0 };
    struct sv_conf *conf;
    int r;

    (void)mallopt(M_ARENA_MAX, 1); /* the worker's thread shares the heap */
    (void)signal(SIGPIPE, SIG_IGN);
    sv_log_init("selvedge-service-am");
    conf = sv_conf_new();
    r = conf ? sv_conf_load_hadoop(conf, NULL, &err)
             : sv_error_errno(&err, -ENOMEM, "configuration");
    if (r >= 0)
        r = svc_am_options_read(argc, argv, conf, &options, &err);
    if (r < 0) {
        sv_log_err("%s", err.text);
        return 2;
    }
    r = run(&options, conf, &err);
    if (r < 0)
        sv_log_err("%s", err.code ? err.text : strerror(-r));
    return r < 0 ? 1 : r;
}
