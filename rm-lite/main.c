/* selvedge-rm: arguments, configuration, signals, the loop. rm.c composes the rest. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#include "common/fd.h"
#include "common/loop-guard.h"
#include "rm-lite/conf/conf-unread.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/rm.h"
#include "rm-lite/scheduler/replay.h"
#include "rm-lite/services.h"

static void usage(FILE *out)
{
    fputs(
        "Usage: selvedge-rm [OPTION]...\n"
        "The ResourceManager of a YARN cluster.\n\n"
        "  -c, --conf DIR         read core-site.xml, yarn-site.xml, capacity-scheduler.xml here\n"
        "                         (else $HADOOP_CONF_DIR, else /etc/hadoop/conf)\n"
        "  -D KEY=VALUE           set one key\n"
        "      --record FILE      record the scheduler's events and decisions "
        "(selvedge.rm.record)\n"
        "      --replay FILE      play such a record, report differing decisions (exit status 1)\n"
        "                         and end\n"
        "      --print-conf       print every key of the ResourceManager and end\n"
        "      --print-keys       print what becomes of each yarn.resourcemanager key and end\n"
        "      --print-interfaces print what becomes of each RPC method and REST path and end\n"
        "      --print-graph NAME print a state machine as a graph (RMApp, RMAppAttempt,\n"
        "                         RMContainer, RMNode) and end\n"
        "  -h, --help             this text\n",
        out);
}

static int print_graph(const char *name)
{
    static const struct sv_fsm *const all[] = { &rm_app_fsm, &rm_attempt_fsm, &rm_container_fsm,
                                                &rm_node_fsm };

    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++)
        if (strcmp(all[i]->name, name) == 0) {
            sv_fsm_print_dot(all[i], stdout);
            return EXIT_SUCCESS;
        }
    fprintf(stderr, "selvedge-rm: no state machine has the name %s\n", name);
    return EXIT_FAILURE;
}

/* Exit status of --replay, beside EXIT_SUCCESS. */
#define EXIT_DIFFERS 1
#define EXIT_NO_RECORD 2

static int print_replay(const struct rm_replay *got)
{
    printf("%" PRIu64 " events with %" PRIu64 " decisions are the same\n", got->events,
           got->decisions);
    if (got->differs) {
        printf("the first difference: %s\n", got->what);
        return EXIT_DIFFERS;
    }
    if (got->end == RM_REPLAY_TORN)
        printf("the record is cut in line %zu: the daemon was killed or the disk was full\n",
               got->torn_line);
    if (got->end == RM_REPLAY_LIMIT)
        printf("the record ends there, it had its size (selvedge.rm.record-limit)\n");
    return EXIT_SUCCESS;
}

static int replay(const char *path)
{
    static struct rm_replay got;
    struct sv_error err = { 0 };
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *data = MAP_FAILED;
    int r;

    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        fprintf(stderr, "selvedge-rm: %s: %s\n", path,
                fd >= 0 && st.st_size == 0 ? "empty" : strerror(errno));
        return EXIT_NO_RECORD;
    }
    r = rm_replay(data, (size_t)st.st_size, &got, &err);
    (void)munmap(data, (size_t)st.st_size); /* the program ends, ignoring */
    if (r < 0) {
        fprintf(stderr, "selvedge-rm: %s: %s\n", path, err.text[0] ? err.text : strerror(-r));
        return EXIT_NO_RECORD;
    }
    return print_replay(&got);
}

/* -D takes precedence over the files, also over those loaded later. */
static int set_keys(struct sv_conf *conf, char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *eq = strchr(texts[i], '=');

        if (!eq)
            return -EINVAL;
        *eq = 0;
        if (sv_conf_override(conf, texts[i], eq + 1) < 0)
            return -EINVAL;
    }
    return 0;
}

/* Errors that another start would not cure: RestartPreventExitStatus= of the unit. */
#define EXIT_CONFIGURATION 4

static int not_started(int r, const char *why)
{
    sv_log_err("not started: %s", why);
    (void)sd_notifyf(0, "STATUS=not started: %s", why); /* no service manager, ignoring */
    return r == -EINVAL || r == -EOPNOTSUPP || r == -EPERM || r == -EACCES || r == -ENOENT ||
                   r == -ENOKEY || r == -EUCLEAN
               ? EXIT_CONFIGURATION
               : EXIT_FAILURE;
}

static int run(struct sv_conf *conf)
{
    struct sv_error err = { 0 };
    sd_event *event = NULL;
    struct rm *rm = NULL;
    int r = sd_event_default(&event);

    if (r >= 0)
        r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
    if (r >= 0)
        r = sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
    if (r < 0) {
        sv_log_err("event loop: %s", strerror(-r));
        return EXIT_FAILURE;
    }
    r = rm_new(event, conf, &rm, &err);
    if (r < 0) {
        sd_event_unref(event);
        return not_started(r, err.text[0] ? err.text : strerror(-r));
    }
    sv_log_notice("ResourceManager is ready, cluster timestamp %lld, epoch %lld",
                  (long long)rm->started_ms, (long long)rm->epoch);
    (void)sd_event_set_watchdog(event, true); /* 0 without a watchdog */
    (void)sd_notify(0, "READY=1");            /* no service manager, ignoring */
    sv_loop_watch();
    r = sv_loop_run(event);
    (void)sd_notify(0, "STOPPING=1");
    rm_free(rm);
    sd_event_unref(event);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The parsed command line; the texts are argv's. */
struct arguments {
    const char *dir, *record;
    char *keys[256]; /* -D KEY=VALUE */
    size_t n_keys;
    bool print_conf;
};

/* 1: continue; 0: done, *status is the exit status. */
static int read_arguments(int argc, char **argv, struct arguments *a, int *status)
{
    enum { PRINT_GRAPH = 256, PRINT_CONF, PRINT_KEYS, PRINT_INTERFACES, RECORD, REPLAY };
    static const struct option options[] = {
        { "conf", required_argument, NULL, 'c' },
        { "print-graph", required_argument, NULL, PRINT_GRAPH },
        { "print-conf", no_argument, NULL, PRINT_CONF },
        { "print-keys", no_argument, NULL, PRINT_KEYS },
        { "print-interfaces", no_argument, NULL, PRINT_INTERFACES },
        { "record", required_argument, NULL, RECORD },
        { "replay", required_argument, NULL, REPLAY },
        { "help", no_argument, NULL, 'h' },
        { 0 }
    };
    int c;

    *status = EXIT_SUCCESS;
    while ((c = getopt_long(argc, argv, "c:D:h", options, NULL)) >= 0)
        switch (c) {
        case 'c':
            a->dir = optarg;
            break;
        case 'D':
            if (a->n_keys == SV_ARRAY_LEN(a->keys)) {
                fprintf(stderr, "selvedge-rm: more than %zu -D\n", a->n_keys);
                *status = EXIT_FAILURE;
                return 0;
            }
            a->keys[a->n_keys++] = optarg;
            break;
        case RECORD:
            a->record = optarg;
            break;
        case REPLAY:
            *status = replay(optarg);
            return 0;
        case PRINT_GRAPH:
            *status = print_graph(optarg);
            return 0;
        case PRINT_KEYS:
            rm_conf_print_keys(stdout);
            return 0;
        case PRINT_INTERFACES:
            rm_services_print(stdout);
            return 0;
        case PRINT_CONF:
            a->print_conf = true;
            break;
        case 'h':
            usage(stdout);
            return 0;
        default:
            usage(stderr);
            *status = EXIT_FAILURE;
            return 0;
        }
    return 1;
}

/* Loads the files, then the command line's keys over them. 0, or the exit status. */
static int load_conf(struct sv_conf *conf, struct arguments *a)
{
    struct sv_error err = { 0 };
    int r = sv_conf_load_hadoop(conf, a->dir, &err);

    if (r < 0)
        return not_started(r == -ENOMEM ? r : -EINVAL, err.text);
    if (set_keys(conf, a->keys, a->n_keys) < 0) {
        fprintf(stderr, "selvedge-rm: -D needs KEY=VALUE\n");
        return EXIT_FAILURE;
    }
    if (a->record && sv_conf_override(conf, "selvedge.rm.record", a->record) < 0)
        return EXIT_FAILURE;
    return 0;
}

static int run_or_print(struct sv_conf *conf, struct arguments *a)
{
    sigset_t set;
    int status = load_conf(conf, a);

    if (status)
        return status;
    if (a->print_conf) {
        rm_conf_print(conf, stdout);
        return EXIT_SUCCESS;
    }
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &set, NULL); /* sd_event reads them by signalfd */
    (void)signal(SIGPIPE, SIG_IGN);
    return run(conf);
}

int main(int argc, char **argv)
{
    struct arguments arguments = { 0 };
    struct sv_conf *conf;
    int status;

    sv_log_init("rm");
    if (!read_arguments(argc, argv, &arguments, &status))
        return status;
    conf = sv_conf_new();
    if (!conf)
        return EXIT_FAILURE;
    status = run_or_print(conf, &arguments);
    sv_conf_free(conf);
    return status;
}
