/* selvedge-nodemanager: the daemon of a worker node. Command line, configuration, signals, loop. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/listen-fds.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "common/version.h"
#include "localizer/cache.h"
#include "nodemanager/am/container-manager.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/amrmproxy/server.h"
#include "nodemanager/aux-services/aux-class.h"
#include "nodemanager/conf/conf-check.h"
#include "nodemanager/conf/conf-sandbox.h"
#include "nodemanager/conf/conf-unit.h"
#include "nodemanager/conf/conf-unread.h"
#include "nodemanager/federation/classes.h"
#include "nodemanager/fsm/application-fsm.h"
#include "nodemanager/fsm/container-fsm.h"
#include "nodemanager/nm-end.h"
#include "nodemanager/nm-parts.h"
#include "nodemanager/nm.h"
#include "nodemanager/reload.h"
#include "nodemanager/web/rest-paths.h"

#define OVERRIDES_MAX 256

static int usage(FILE *out, int status)
{
    fputs("usage: selvedge-nodemanager [--conf DIR] [-D key=value]…\n"
          "       selvedge-nodemanager [--conf DIR] [-D key=value]… --check-config\n"
          "       selvedge-nodemanager --print-config | --print-keys | --print-interfaces | "
          "--version\n"
          "       selvedge-nodemanager --print-graph container|application|localized-resource\n\n"
          "  --conf DIR      directory of core-site.xml, hdfs-site.xml, yarn-site.xml\n"
          "                  (default: $HADOOP_CONF_DIR, else /etc/hadoop/conf;\n"
          "                  --check-config: else the unit's, /etc/default/selvedge-nodemanager)\n"
          "  -D key=value    overrides a setting of the files\n"
          "  --check-config  whether it accepts them, and the keys that are not read\n"
          "  --print-config  the settings that are read, with their defaults\n"
          "  --print-keys    what becomes of each yarn.nodemanager key\n"
          "  --print-interfaces  what becomes of each RPC method and REST path\n"
          "  --print-graph   a state machine as Graphviz dot\n",
          out);
    return status;
}

static int print_graph(const char *name)
{
    const struct sv_fsm *const graphs[] = { nm_container_fsm(), nm_app_fsm(), &loc_entry_fsm };

    if (sv_streq(name, "localized-resource"))
        name = loc_entry_fsm.name;
    for (size_t i = 0; i < SV_ARRAY_LEN(graphs); i++)
        if (sv_streq(name, graphs[i]->name)) {
            sv_fsm_print_dot(graphs[i], stdout);
            return EXIT_SUCCESS;
        }
    return usage(stderr, 2);
}

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    nm_stop(userdata, si->ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT", EXIT_SUCCESS);
    return 0;
}

/* Sources of the configuration. */
struct source {
    struct nm *nm;
    const char *conf_dir;
    char **overrides;
    enum sv_log_level log_level; /* of the environment */
};

static void set_log_level(const struct source *s)
{
    const int wanted = s->nm->conf.log_level;

    sv_log_set_level(wanted < 0 ? s->log_level : (enum sv_log_level)wanted);
}

/* The service manager expects RELOADING and READY only from a started daemon. */
static int on_hangup(sd_event_source *event, const struct signalfd_siginfo *si, void *userdata)
{
    SV_LOOP_HANDLER();
    const struct source *s = userdata;
    struct nm_reload_result result;
    struct sv_error err = { 0 };
    char status[sizeof(err.text) + 64];
    uint64_t now = 0;

    (void)event, (void)si;
    if (s->nm->ready && sd_event_now(s->nm->event, CLOCK_MONOTONIC, &now) >= 0)
        (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now);
    if (nm_reload(&s->nm->conf, s->conf_dir, s->overrides, &result, &err) < 0) {
        sv_log_err("configuration: reload failed, keeping the old one: %s", err.text);
        (void)snprintf(status, sizeof(status), "configuration not read again: %s", err.text);
    } else {
        set_log_level(s);
        nm_reloaded(s->nm);
        sv_log_notice("configuration: read again: %u changed keys applied, %u need a restart",
                      result.applied, result.pending);
        (void)snprintf(status, sizeof(status),
                       "configuration read again: %u changed keys applied, %u need a restart",
                       result.applied, result.pending);
    }
    (void)sd_notifyf(0, "%sSTATUS=%s; %s", s->nm->ready ? "READY=1\n" : "",
                     s->nm->ready ? s->nm->ctx.node_id_text : "not registered", status);
    return 0;
}

/* Signals are handled in the loop; a write to a closed connection is an error code, never SIGPIPE.
 */
static int set_up_signals(struct source *source)
{
    struct nm *nm = source->nm;
    sigset_t set;
    int r;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -errno;
    r = sd_event_add_signal(nm->event, NULL, SIGTERM, on_signal, nm);
    if (r >= 0)
        r = sd_event_add_signal(nm->event, NULL, SIGINT, on_signal, nm);
    return r < 0 ? r : sd_event_add_signal(nm->event, NULL, SIGHUP, on_hangup, source);
}

/* Each container and connection costs a few descriptors. No core: it would hold keys. */
static void set_limits(void)
{
    struct rlimit l, none = { 0, 0 };

    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
        l.rlim_cur = SV_MIN(l.rlim_max, (rlim_t)65536);
        (void)setrlimit(RLIMIT_NOFILE, &l); /* fewer containers are possible then, ignoring */
    }
    (void)setrlimit(RLIMIT_CORE, &none); /* lowering cannot fail */
    umask(0022); /* cgroups must be readable for the helper; secret files have explicit modes */
}

/* Drops all capabilities: the helper is setuid, and the daemon owns its cgroups. */
static int drop_privilege(void)
{
    char had[SV_CAPS_TEXT_MAX];
    int r = sv_caps_drop_all(had);

    if (r < 0)
        sv_log_err("not started: capabilities: %s", strerror(-r));
    else if (*had)
        sv_log_notice("started with capabilities, none of which is needed; dropped: %s", had);
    return r;
}

static int start(struct source *source, struct sv_error *err)
{
    struct nm *nm = source->nm;
    int r = sv_listen_fds_receive(&nm->held_ports, err);

    if (r >= 0)
        r = nm_conf_load(&nm->conf, source->conf_dir, source->overrides, err);
    if (r < 0)
        return r == -ENOMEM ? EXIT_FAILURE : NM_EXIT_CONFIGURATION;
    set_log_level(source);
    r = sd_event_default(&nm->event);
    if (r >= 0)
        r = set_up_signals(source);
    if (r < 0) {
        (void)sv_error_errno(err, r, "event loop");
        return EXIT_FAILURE;
    }
    r = nm_start(nm, err);
    return r < 0 ? nm->exit_status : EXIT_SUCCESS;
}

/* If the daemon is not restarted, connections must neither wait for it nor start it. */
static void leave_ports(struct nm *nm, int status)
{
    if (nm->unwanted || status == NM_EXIT_REFUSED || status == NM_EXIT_CONFIGURATION ||
        status == NM_EXIT_HELPER)
        sv_listen_fds_shut_down(nm->held_ports);
    nm->held_ports = sv_listen_fds_free(nm->held_ports);
}

static int run(struct nm *nm, const char *conf_dir, char **overrides)
{
    struct source source = { nm, conf_dir, overrides, sv_log_get_level() };
    struct sv_error err = { 0 };
    int status = start(&source, &err);

    if (status != EXIT_SUCCESS) {
        sv_log_err("not started: %s", err.text);
        (void)sd_notifyf(0, "STATUS=not started: %s", err.text); /* no systemd, ignoring */
    } else {
        (void)sd_event_set_watchdog(nm->event, true); /* 0 without a watchdog */
        sv_loop_watch();
        status = sv_loop_run(nm->event);
        if (status < 0)
            status = EXIT_FAILURE;
        sv_log_info("stopped");
    }
    nm_free(nm);
    leave_ports(nm, status);
    sd_event_unref(nm->event);
    return status;
}

static void print_refusal(const char *text, void *userdata)
{
    (void)userdata;
    printf("refused: %s\n", text);
}

static void print_line(const char *text, void *userdata)
{
    (void)userdata;
    puts(text);
}

static void print_unseen(const char *text, const char *line, void *userdata)
{
    (void)userdata;
    printf("%s%s%s\n", text, line ? "; container-executor.cfg:\n" : "", line ?: "");
}

/* 0: the daemon would accept the configuration; what it needs of the machine is doctor's. */
static int check_config(const char *conf_dir, char **overrides)
{
    _cleanup_free_ char *unit = conf_dir ? NULL : nm_conf_unit_dir(NULL);
    struct sv_error err = { 0 };
    struct nm_conf c;
    int r = nm_conf_load(&c, conf_dir ? conf_dir : unit, overrides, &err);

    if (r >= 0)
        r = nm_amrm_check_conf(c.conf, nm_amrm_classes, &err);
    if (r >= 0)
        printf("%s: accepted, as %s:%u. Its directories, cgroup and container-executor are checked "
               "at the start, and by selvedge doctor\n",
               sv_conf_dir(c.conf), c.hostname, c.port);
    else
        print_refusal(err.text, NULL);
    if (r >= 0)
        nm_aux_each_missing(&c, print_line, NULL);
    else if (c.conf)
        nm_conf_each_refusal(c.conf, err.text, print_refusal, NULL);
    if ((r >= 0 && nm_conf_each_unseen(&c, NULL, NULL, print_unseen, NULL) < 0) ||
        (c.conf && nm_conf_print_unread(c.conf, stdout) < 0))
        fputs("out of memory\n", stderr);
    nm_conf_free(&c);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "conf", required_argument, NULL, 'c' },
        { "print-graph", required_argument, NULL, 'g' },
        { "print-config", no_argument, NULL, 'p' },
        { "print-keys", no_argument, NULL, 'k' },
        { "print-interfaces", no_argument, NULL, 'i' },
        { "check-config", no_argument, NULL, 'C' },
        { "version", no_argument, NULL, 'v' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    static char *overrides[OVERRIDES_MAX + 1];
    static struct nm nm;
    const char *conf_dir = NULL;
    bool check = false;
    int n = 0, o;

    while ((o = getopt_long(argc, argv, "D:h", options, NULL)) != -1) {
        switch (o) {
        case 'c':
            conf_dir = optarg;
            break;
        case 'D':
            if (n == OVERRIDES_MAX)
                return usage(stderr, 2);
            overrides[n++] = optarg;
            break;
        case 'g':
            return print_graph(optarg);
        case 'p':
            nm_conf_print(stdout);
            return EXIT_SUCCESS;
        case 'k':
            nm_conf_print_keys(stdout);
            return EXIT_SUCCESS;
        case 'i':
            ipc_print_methods(stdout, &nm_container_management);
            ipc_print_methods(stdout, &nm_amrm_protocol);
            nm_rest_print(stdout);
            return EXIT_SUCCESS;
        case 'C':
            check = true;
            break;
        case 'v':
            printf("selvedge-nodemanager %s (as Hadoop %s)\n", SV_VERSION, NM_HADOOP_VERSION);
            return EXIT_SUCCESS;
        case 'h':
            return usage(stdout, EXIT_SUCCESS);
        default:
            return usage(stderr, 2);
        }
    }
    if (optind != argc)
        return usage(stderr, 2);
    sv_log_init("nodemanager");
    if (check)
        return check_config(conf_dir, overrides);
    if (geteuid() == 0) {
        sv_log_err("not started: must not run as root; the account is `yarn`, or another that "
                   "container-executor.cfg names");
        return NM_EXIT_CONFIGURATION;
    }
    set_limits();
    if (drop_privilege() < 0)
        return EXIT_FAILURE;
    return run(&nm, conf_dir, overrides);
}
