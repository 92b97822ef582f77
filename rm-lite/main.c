/* selvedge-rm: options, configuration, the loop. rm.c composes the rest. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common/daemon.h"
#include "common/fd.h"
#include "rm-lite/conf/conf-unread.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/rm.h"
#include "rm-lite/scheduler/replay.h"
#include "rm-lite/services.h"

static const char usage[] =
    "Usage: selvedge-rm [OPTION]...\n"
    "The ResourceManager of a YARN cluster.\n\n"
    "  -c, --conf DIR         read core-site.xml, yarn-site.xml, capacity-scheduler.xml here\n"
    "                         (else $HADOOP_CONF_DIR, else /etc/hadoop/conf)\n"
    "  -D KEY=VALUE           set one key\n"
    "      --record FILE      record the scheduler's events and decisions "
    "(selvedge.rm.record)\n"
    "      --replay FILE      play such a record, report differing decisions (exit status 1)\n"
    "                         and end\n"
    "      --check-config     whether the files are accepted, and end\n"
    "      --print-conf       print every key of the ResourceManager and end\n"
    "      --print-keys       print what becomes of each yarn.resourcemanager key and end\n"
    "      --print-interfaces print what becomes of each RPC method and REST path and end\n"
    "      --print-graph NAME print a state machine as a graph (RMApp, RMAppAttempt,\n"
    "                         RMContainer, RMNode) and end\n"
    "  -h, --help             this text\n";

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

static int run(struct sv_conf *conf)
{
    struct sv_error err = { 0 };
    sd_event *event = NULL;
    struct rm *rm = NULL;
    int r = sv_daemon_event(&event);

    if (r < 0) {
        sv_log_err("event loop: %s", strerror(-r));
        return EXIT_FAILURE;
    }
    r = rm_new(event, conf, &rm, &err);
    if (r < 0) {
        sd_event_unref(event);
        return sv_daemon_not_started(r, err.text);
    }
    sv_log_notice("ResourceManager is ready, cluster timestamp %lld, epoch %lld",
                  (long long)rm->started_ms, (long long)rm->epoch);
    r = sv_daemon_run(event);
    rm_free(rm);
    sd_event_unref(event);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

enum {
    PRINT_GRAPH = SV_DAEMON_OPTION,
    PRINT_CONF,
    PRINT_KEYS,
    PRINT_INTERFACES,
    RECORD,
    REPLAY,
    CHECK
};

/* The parsed command line; the text is argv's. */
struct arguments {
    const char *record;
    bool print_conf, check;
};

/* 0: go on; else the exit status plus one: those that print are done. */
static int take(int option, const char *argument, void *userdata)
{
    struct arguments *a = userdata;

    switch (option) {
    case RECORD:
        a->record = argument;
        return 0;
    case PRINT_CONF:
        a->print_conf = true;
        return 0;
    case CHECK:
        a->check = true;
        return 0;
    case REPLAY:
        return replay(argument) + 1;
    case PRINT_GRAPH:
        return print_graph(argument) + 1;
    case PRINT_KEYS:
        rm_conf_print_keys(stdout);
        break;
    default:
        rm_services_print(stdout);
        break;
    }
    return EXIT_SUCCESS + 1;
}

static int check(struct sv_conf *conf)
{
    struct sv_error err = { 0 };

    if (rm_check(conf, &err) < 0) {
        printf("refused: %s\n", err.text);
        return EXIT_FAILURE;
    }
    printf("%s: accepted. Ports, directories and servers are tried at the start\n",
           sv_conf_dir(conf));
    return EXIT_SUCCESS;
}

static int run_or_print(struct sv_conf *conf, const struct arguments *a)
{
    if (a->check)
        return check(conf);
    if (a->print_conf) {
        rm_conf_print(conf, stdout);
        return EXIT_SUCCESS;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return run(conf);
}

int main(int argc, char **argv)
{
    static const struct option own[] = {
        { "print-graph", required_argument, NULL, PRINT_GRAPH },
        { "check-config", no_argument, NULL, CHECK },
        { "print-conf", no_argument, NULL, PRINT_CONF },
        { "print-keys", no_argument, NULL, PRINT_KEYS },
        { "print-interfaces", no_argument, NULL, PRINT_INTERFACES },
        { "record", required_argument, NULL, RECORD },
        { "replay", required_argument, NULL, REPLAY },
        { 0 },
    };
    struct arguments arguments = { 0 };
    const struct sv_daemon_options options = { usage, own, take, &arguments };
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    struct sv_error err = { 0 };
    const char *dir = NULL;
    int r, status;

    sv_log_init("rm");
    if (!conf)
        return EXIT_FAILURE;
    status = sv_daemon_arguments(&options, argc, argv, conf, &dir);
    if (status)
        return status - 1;
    if (arguments.record && sv_conf_override(conf, "selvedge.rm.record", arguments.record) < 0)
        return EXIT_FAILURE;
    r = sv_conf_load_hadoop(conf, dir, &err);
    if (r < 0)
        return sv_daemon_not_started(r == -ENOMEM ? r : -EINVAL, err.text);
    return run_or_print(conf, &arguments);
}
