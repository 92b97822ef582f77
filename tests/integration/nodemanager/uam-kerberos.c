/* The AMRMProxy's half of an unmanaged master at a ResourceManager with Kerberos, for
 * tests/integration/rm-lite/test-kerberos-rm: the NodeManager's ticket, the application's user.
 *
 *   uam-kerberos HELPER KRB5-CONF KEYTAB PRINCIPAL RM-PRINCIPAL RM-PATTERN CLIENTS SCHEDULER USER
 *
 * CLIENTS and SCHEDULER are addresses as the federation's store has them. Submits the application
 * application_17_0003 as USER, takes its token, registers, is given a container and ends. Prints a
 * line for each: "token", "registered", "allocated", "finished", or "failed: " and the reason. */
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "gss/daemon.h"
#include "nodemanager/federation/sub-cluster.h"
#include "nodemanager/federation/turns.h"
#include "wire/frame.h"

#define PATIENCE_MS 30000
#define SLICE_US 100000

static struct {
    sd_event *event;
    struct nm_turns turns;
    bool allocated, ended;
} g;

/* ---- Words of the sub-cluster ---- */

static void on_answered(void *userdata, struct nm_sub_cluster *s,
                        const Hadoop__Yarn__AllocateResponseProto *m, struct sv_arena **arena)
{
    (void)userdata;
    (void)arena;
    if (!m->n_allocated_containers || g.allocated)
        return;
    g.allocated = true;
    puts("allocated");
    nm_sub_finish(s);
}

static int on_registering(void *userdata, struct nm_sub_cluster *s,
                          const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                          struct fed_relay_at *at, struct fed_budget *b)
{
    (void)userdata;
    (void)s;
    (void)m;
    (void)at;
    (void)b;
    return 0;
}

static void on_registered(void *userdata, struct nm_sub_cluster *s,
                          const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                          struct sv_arena **arena)
{
    (void)userdata;
    (void)s;
    (void)m;
    (void)arena;
    puts("registered");
}

static void on_token(void *userdata, struct nm_sub_cluster *s, const Hadoop__Common__TokenProto *m)
{
    (void)userdata;
    (void)m;
    puts("token");
    nm_sub_saved(s, 0);
}

static void on_absent(void *userdata, struct nm_sub_cluster *s)
{
    (void)userdata;
    (void)s;
}

static void on_told(void *userdata, struct nm_sub_cluster *s, const char *java_class,
                    const char *text)
{
    (void)userdata;
    (void)s;
    printf("failed: %s: %s\n", java_class, text);
}

static void on_ended(void *userdata, struct nm_sub_cluster *s)
{
    (void)userdata;
    if (nm_sub_state(s) == FED_UAM_FINISHED)
        puts("finished");
    else
        printf("failed: %s\n", nm_sub_why(s));
    g.ended = true;
}

static const struct nm_sub_owner owner = {
    .answered = on_answered, /* .recalling: nothing is recalled here */
    .registering = on_registering,
    .registered = on_registered,
    .token = on_token,
    .absent = on_absent,
    .refused = on_told,
    .lost = on_told,
    .ended = on_ended,
};

/* ---- The run ---- */

static int ask(struct nm_sub_cluster *s, struct sv_arena *a)
{
    Hadoop__Yarn__PriorityProto priority = HADOOP__YARN__PRIORITY_PROTO__INIT;
    Hadoop__Yarn__ResourceRequestProto row = HADOOP__YARN__RESOURCE_REQUEST_PROTO__INIT,
                                       *rows[] = { &row };
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    struct fed_budget all = FED_BUDGET_ALL;
    struct fed_relay_at at = { 0 };

    priority.has_priority = true;
    priority.priority = 1;
    row.priority = &priority;
    row.resource_name = (char *)(uintptr_t) "*";
    row.capability = yarn_resource_to(a, (struct yarn_resource){ .memory_mb = 64, .vcores = 1 });
    row.has_num_containers = true;
    row.num_containers = 1;
    q.ask = rows;
    q.n_ask = 1;
    return nm_sub_take(s, &q, &at, &all, NULL);
}

static void run_until(const struct sgss_daemon *d, struct nm_sub_cluster *s, const bool *is)
{
    int64_t end = sv_now_ms() + PATIENCE_MS;

    while (sv_now_ms() < end && !(is ? *is : sgss_daemon_state(d).until > 0)) {
        (void)sd_event_run(g.event, SLICE_US);
        if (s)
            nm_sub_beat(s);
    }
}

static int run(struct nm_amrm_env *env, const struct sgss_daemon *d, char **argv)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto registration =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__FinishApplicationMasterRequestProto finish =
        HADOOP__YARN__FINISH_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct nm_sub_application app = { .attempt = { { 17, 3 }, 1 },
                                            .text = "appattempt_17_0003_000001",
                                            .user = argv[9],
                                            .home = "SC-1",
                                            .queue = "default",
                                            .registration = &registration,
                                            .finish = &finish };
    const struct nm_sub_config cfg = { .event = g.event,
                                       .turns = &g.turns,
                                       .id = "SC-2",
                                       .member = 1,
                                       .app = &app,
                                       .wire = &nm_member_wire,
                                       .wire_userdata = env,
                                       .owner = &owner,
                                       .settings = { 1, 100, 200, 10000 } };
    const struct fed_member member = { .am = argv[8], .client = argv[7] };
    struct nm_sub_cluster *s = nm_sub_new(&cfg);

    finish.has_final_application_status = true;
    finish.final_application_status = HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_SUCCEEDED;
    if (!a || !s || nm_sub_set_addresses(s, &member) < 0 || ask(s, a) < 0)
        return 3;
    run_until(d, NULL, NULL);
    nm_sub_start(s);
    run_until(d, s, &g.ended);
    nm_sub_free(s);
    return g.ended ? 0 : 4;
}

int main(int argc, char **argv)
{
    struct sv_conf *conf = sv_conf_new();
    struct ipc_proxy_config own;
    struct sgss_service service;
    struct nm_amrm_env env = { .own_rm = &own, .kerberos = &service };
    struct sgss_daemon *d = NULL;
    struct sv_error err = { 0 };
    int code;

    if (argc != 10 || !conf || sd_event_new(&g.event) < 0 || nm_turns_open(g.event, &g.turns) < 0)
        return 2;
    const char *const keytabs[] = { argv[3], NULL };
    const struct sgss_daemon_config cfg = { .event = g.event,
                                            .principal = argv[4],
                                            .helper = argv[1],
                                            .keytabs = keytabs,
                                            .krb5_conf = argv[2] };

    env.event = g.event;
    if (yarn_rm_proxy_config(conf, YARN_RM_SCHEDULER, &own, &err) < 0 ||
        sgss_daemon_new(&cfg, &d, &err) < 0) {
        fprintf(stderr, "uam-kerberos: %s\n", err.text);
        return 2;
    }
    sgss_service_init(&service, d, "yarn.resourcemanager.principal", argv[5], argv[6], "localhost");
    code = run(&env, d, argv);
    sgss_daemon_free(d);
    nm_turns_close(&g.turns);
    sd_event_unref(g.event);
    sv_conf_free(conf);
    return code;
}
