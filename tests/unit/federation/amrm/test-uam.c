/* federation/amrm/uam.c: every edge of the table, every refused event, and launches and ends as
 * they run. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "federation/amrm/uam.h"
#include "proto/yarn_service.pb-c.h"

#define APP(x) HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__##x
#define ATTEMPT(x) HADOOP__YARN__YARN_APPLICATION_ATTEMPT_STATE_PROTO__APP_ATTEMPT_##x
#define S(x) FED_UAM_##x
#define DO(x) FED_UAM_DO_##x

static const struct fed_uam_settings settings = {
    .tries = 3, .retry_ms = 100, .poll_ms = 200, .launch_ms = 10000
};

/* ---- Edges ---- */

/* The state before, the event and its argument, the state behind and what is to be done. */
struct edge {
    int from, event;
    struct fed_uam_arg arg;
    int to;
    enum fed_uam_do todo;
    struct fed_uam with; /* of the machine before: what differs from a fresh one */
};

#define LAST .with = { .tries_left = 1, .submitted = true }
#define FIRST .with = { .tries_left = 3, .submitted = true, .deadline_ms = 100 }
#define TOKEN .with = { .tries_left = 3, .submitted = true, .has_token = true }
#define AT(ms) .now_ms = (ms)
/* Each state of the launch with a call that fails, is refused, or is not waited for. */
#define LAUNCH(s)                                                                                  \
    { S(s), S(CALL_FAILED), { .why = "w" }, S(PAUSED), DO(WAIT), FIRST },                          \
        { S(s), S(CALL_FAILED), { .why = "w" }, S(FAILED), DO(END), LAST },                        \
        { S(s), S(CALL_REFUSED), { .why = "w" }, S(FAILED), DO(END), FIRST },                      \
        { S(s), S(FINISH), { 0 }, S(KILLING), DO(KILL), FIRST },                                   \
    {                                                                                              \
        S(s), S(KILL), { 0 }, S(KILLING), DO(KILL), FIRST                                          \
    }

/* clang-format off */
static const struct edge edges[] = {
    { S(NEW), S(START), { AT(5) }, S(SUBMITTING), DO(SUBMIT) },
    { S(NEW), S(ATTACH), { 0 }, S(REGISTERING), DO(REGISTER) },
    { S(NEW), S(FINISH), { 0 }, S(FINISHED), DO(END) },
    { S(NEW), S(KILL), { 0 }, S(FINISHED), DO(END) },
    LAUNCH(SUBMITTING),
    { S(SUBMITTING), S(SUBMITTED), { 0 }, S(ACCEPTING), DO(REPORT), FIRST },
    LAUNCH(ACCEPTING),
    { S(ACCEPTING), S(REPORT), { .app = APP(ACCEPTED), .attempt_known = true }, S(LAUNCHING), DO(REPORT_ATTEMPT), FIRST },
    { S(ACCEPTING), S(REPORT), { .app = APP(ACCEPTED), AT(99) }, S(ACCEPTING), DO(WAIT), FIRST },
    { S(ACCEPTING), S(REPORT), { .app = APP(SUBMITTED), AT(99) }, S(ACCEPTING), DO(WAIT), FIRST },
    { S(ACCEPTING), S(REPORT), { .app = APP(SUBMITTED), AT(100) }, S(PAUSED), DO(WAIT), FIRST },
    { S(ACCEPTING), S(REPORT), { .app = APP(SUBMITTED), AT(100) }, S(FAILED), DO(END), LAST },
    { S(ACCEPTING), S(REPORT), { .app = APP(RUNNING) }, S(FAILED), DO(END), FIRST },
    { S(ACCEPTING), S(REPORT), { .app = APP(FINISHED) }, S(FAILED), DO(END), FIRST },
    { S(ACCEPTING), S(REPORT), { .app = APP(KILLED) }, S(FAILED), DO(END), FIRST },
    { S(ACCEPTING), S(REPORT), { .app = 12345, AT(1) }, S(ACCEPTING), DO(WAIT), FIRST },
    { S(ACCEPTING), S(TIMER), { 0 }, S(ACCEPTING), DO(REPORT), FIRST },
    LAUNCH(LAUNCHING),
    { S(LAUNCHING), S(ATTEMPT), { .attempt = ATTEMPT(LAUNCHED) }, S(FETCHING), DO(REPORT), FIRST },
    { S(LAUNCHING), S(ATTEMPT), { .attempt = ATTEMPT(SCHEDULED) }, S(LAUNCHING), DO(WAIT), FIRST },
    { S(LAUNCHING), S(ATTEMPT), { .attempt = ATTEMPT(SUBMITTED), AT(100) }, S(PAUSED), DO(WAIT), FIRST },
    { S(LAUNCHING), S(ATTEMPT), { .attempt = ATTEMPT(SUBMITTED), AT(100) }, S(FAILED), DO(END), LAST },
    { S(LAUNCHING), S(ATTEMPT), { .attempt = ATTEMPT(FAILED) }, S(FAILED), DO(END), FIRST },
    { S(LAUNCHING), S(TIMER), { 0 }, S(LAUNCHING), DO(REPORT_ATTEMPT), FIRST },
    LAUNCH(FETCHING),
    { S(FETCHING), S(REPORT), { .token = true }, S(SAVING), DO(SAVE), FIRST },
    { S(FETCHING), S(REPORT), { 0 }, S(FETCHING), DO(WAIT), FIRST },
    { S(FETCHING), S(REPORT), { AT(100) }, S(PAUSED), DO(WAIT), FIRST },
    { S(FETCHING), S(REPORT), { AT(100) }, S(FAILED), DO(END), LAST },
    { S(FETCHING), S(TIMER), { 0 }, S(FETCHING), DO(REPORT), FIRST },
    LAUNCH(SAVING),
    { S(SAVING), S(SAVED), { 0 }, S(REGISTERING), DO(REGISTER), FIRST },
    LAUNCH(REGISTERING),
    { S(REGISTERING), S(REGISTERED), { 0 }, S(RUNNING), DO(HEARTBEAT), TOKEN },
    { S(REGISTERING), S(REGISTERED), { 0 }, S(FINISHING), DO(FINISH), .with = { .finish_next = true } },
    { S(REGISTERING), S(LOST), { 0 }, S(FAILED), DO(END), TOKEN },
    { S(PAUSED), S(TIMER), { 0 }, S(SUBMITTING), DO(SUBMIT), FIRST },
    { S(PAUSED), S(TIMER), { 0 }, S(REGISTERING), DO(REGISTER), TOKEN },
    { S(PAUSED), S(FINISH), { 0 }, S(KILLING), DO(KILL), FIRST },
    { S(PAUSED), S(KILL), { 0 }, S(KILLING), DO(KILL), FIRST },
    { S(RUNNING), S(RESYNC), { 0 }, S(REGISTERING), DO(REGISTER), TOKEN },
    { S(RUNNING), S(LOST), { 0 }, S(FAILED), DO(END), TOKEN },
    { S(RUNNING), S(FINISH), { 0 }, S(FINISHING), DO(FINISH), TOKEN },
    { S(RUNNING), S(KILL), { 0 }, S(KILLING), DO(KILL), TOKEN },
    { S(FINISHING), S(UNREGISTERED), { .done = true }, S(FINISHED), DO(END), TOKEN },
    { S(FINISHING), S(UNREGISTERED), { 0 }, S(FINISHING), DO(WAIT), TOKEN },
    { S(FINISHING), S(TIMER), { 0 }, S(FINISHING), DO(FINISH), TOKEN },
    { S(FINISHING), S(RESYNC), { 0 }, S(REGISTERING), DO(REGISTER), TOKEN },
    { S(FINISHING), S(LOST), { 0 }, S(FINISHED), DO(END), TOKEN },
    { S(FINISHING), S(CALL_FAILED), { .why = "w" }, S(FINISHING), DO(WAIT), TOKEN },
    { S(FINISHING), S(CALL_FAILED), { .why = "w" }, S(KILLING), DO(KILL), LAST },
    { S(FINISHING), S(CALL_REFUSED), { .why = "w" }, S(KILLING), DO(KILL), TOKEN },
    { S(FINISHING), S(KILL), { 0 }, S(KILLING), DO(KILL), TOKEN },
    { S(KILLING), S(KILLED), { 0 }, S(FINISHED), DO(END), TOKEN },
    { S(KILLING), S(LOST), { 0 }, S(FINISHED), DO(END), TOKEN },
    { S(KILLING), S(TIMER), { 0 }, S(KILLING), DO(KILL), TOKEN },
    { S(KILLING), S(CALL_FAILED), { .why = "w" }, S(KILLING), DO(WAIT), TOKEN },
    { S(KILLING), S(CALL_FAILED), { .why = "w" }, S(FAILED), DO(END), LAST },
    { S(KILLING), S(CALL_REFUSED), { .why = "w" }, S(FAILED), DO(END), TOKEN },
    { S(KILLING), S(KILL), { 0 }, S(KILLING), DO(NOTHING), TOKEN },
    { S(KILLING), S(FINISH), { 0 }, S(KILLING), DO(NOTHING), TOKEN },
    { S(FINISHED), S(START), { 0 }, S(SUBMITTING), DO(SUBMIT) },
    { S(FINISHED), S(KILL), { 0 }, S(FINISHED), DO(NOTHING) },
    { S(FINISHED), S(FINISH), { 0 }, S(FINISHED), DO(NOTHING) },
    { S(FAILED), S(START), { 0 }, S(SUBMITTING), DO(SUBMIT) },
    { S(FAILED), S(ATTACH), { 0 }, S(REGISTERING), DO(REGISTER) },
    { S(FAILED), S(FINISH), { 0 }, S(KILLING), DO(KILL), FIRST },
    { S(FAILED), S(KILL), { 0 }, S(KILLING), DO(KILL), FIRST },
    { S(FAILED), S(FINISH), { 0 }, S(FINISHED), DO(END) },
    { S(FAILED), S(KILL), { 0 }, S(FINISHED), DO(END) },
};
/* clang-format on */

static struct fed_uam at_start_of(const struct edge *e)
{
    struct fed_uam u = e->with;

    u.settings = settings;
    u.state = e->from;
    return u;
}

static bool walks(const struct edge *e, int from, int event, int to)
{
    return e->from == from && e->event == event && e->to == to;
}

static void need_walk(int from, int event, int to)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(edges); i++)
        if (walks(&edges[i], from, event, to))
            return;
    fail_msg("no test walks %s -%s-> %s", fed_uam_fsm.state_names[from],
             fed_uam_fsm.event_names[event], fed_uam_fsm.state_names[to]);
}

static void every_edge(void **state)
{
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(edges); i++) {
        struct fed_uam u = at_start_of(&edges[i]);
        int r = fed_uam_handle(&u, (enum fed_uam_event)edges[i].event, &edges[i].arg);

        if (r != (int)edges[i].todo || u.state != edges[i].to)
            fail_msg("edge %zu, %s -%s->: %s, to do %d", i, fed_uam_fsm.state_names[edges[i].from],
                     fed_uam_fsm.event_names[edges[i].event], fed_uam_fsm.state_names[u.state], r);
    }
    for (int s = 1; s < fed_uam_fsm.n_states; s++)
        for (int e = 1; e < fed_uam_fsm.n_events; e++) {
            const struct sv_fsm_cell *cell = &fed_uam_fsm.cells[s * fed_uam_fsm.n_events + e];

            if (cell->next)
                need_walk(s, e, cell->next);
            for (size_t k = 0; k < SV_ARRAY_LEN(cell->alt); k++)
                if (cell->alt[k])
                    need_walk(s, e, cell->alt[k]);
        }
}

static void refused_events(void **state)
{
    struct fed_uam_arg arg = { .why = "w" };

    (void)state;
    for (int s = 1; s < fed_uam_fsm.n_states; s++)
        for (int e = 1; e < fed_uam_fsm.n_events; e++) {
            struct fed_uam u = { .settings = settings, .state = s, .todo = DO(WAIT) };

            if (fed_uam_fsm.cells[s * fed_uam_fsm.n_events + e].next)
                continue;
            assert_int_equal(fed_uam_handle(&u, (enum fed_uam_event)e, &arg), -EPROTO);
            assert_int_equal(u.state, s);
            assert_int_equal(u.todo, DO(WAIT));
        }
}

/* ---- Lives ---- */

struct life {
    struct fed_uam u;
    int64_t now_ms;
};

static void begin(struct life *l)
{
    *l = (struct life){ .now_ms = 1000 };
    fed_uam_init(&l->u, &settings);
}

static void give(struct life *l, enum fed_uam_event event, struct fed_uam_arg arg,
                 enum fed_uam_do todo)
{
    arg.now_ms = l->now_ms;
    assert_int_equal(fed_uam_handle(&l->u, event, &arg), todo);
}

static void launch(struct life *l)
{
    give(l, S(SUBMITTED), (struct fed_uam_arg){ 0 }, DO(REPORT));
    give(l, S(REPORT), (struct fed_uam_arg){ .app = APP(ACCEPTED), .attempt_known = true },
         DO(REPORT_ATTEMPT));
    give(l, S(ATTEMPT), (struct fed_uam_arg){ .attempt = ATTEMPT(LAUNCHED) }, DO(REPORT));
    give(l, S(REPORT), (struct fed_uam_arg){ .token = true }, DO(SAVE));
    give(l, S(SAVED), (struct fed_uam_arg){ 0 }, DO(REGISTER));
}

/* Two tries fail, the third registers; a restart of the ResourceManager; the end. */
static void whole_life(void **state)
{
    struct life l;

    (void)state;
    begin(&l);
    give(&l, S(START), (struct fed_uam_arg){ 0 }, DO(SUBMIT));
    for (int i = 0; i < 2; i++) {
        give(&l, S(CALL_FAILED), (struct fed_uam_arg){ .why = "no\nroute" }, DO(WAIT));
        assert_int_equal(l.u.wait_ms, 100);
        assert_string_equal(l.u.why, "no\\x0aroute");
        l.now_ms += 100;
        give(&l, S(TIMER), (struct fed_uam_arg){ 0 }, DO(SUBMIT));
        assert_int_equal(l.u.deadline_ms, l.now_ms + 10000);
    }
    launch(&l);
    give(&l, S(REGISTERED), (struct fed_uam_arg){ 0 }, DO(HEARTBEAT));
    assert_string_equal(l.u.why, "");
    give(&l, S(RESYNC), (struct fed_uam_arg){ 0 }, DO(REGISTER));
    give(&l, S(REGISTERED), (struct fed_uam_arg){ 0 }, DO(HEARTBEAT));
    give(&l, S(FINISH), (struct fed_uam_arg){ 0 }, DO(FINISH));
    give(&l, S(RESYNC), (struct fed_uam_arg){ 0 }, DO(REGISTER));
    give(&l, S(REGISTERED), (struct fed_uam_arg){ 0 }, DO(FINISH));
    give(&l, S(UNREGISTERED), (struct fed_uam_arg){ 0 }, DO(WAIT));
    give(&l, S(TIMER), (struct fed_uam_arg){ 0 }, DO(FINISH));
    give(&l, S(UNREGISTERED), (struct fed_uam_arg){ .done = true }, DO(END));
    assert_int_equal(l.u.state, S(FINISHED));
    assert_false(l.u.submitted || l.u.has_token);
}

/* A stored token is used again by each try; when all have failed, a kill leaves nothing. */
static void registration_fails(void **state)
{
    struct life l;

    (void)state;
    begin(&l);
    give(&l, S(START), (struct fed_uam_arg){ 0 }, DO(SUBMIT));
    launch(&l);
    for (int i = 0; i < 2; i++) {
        give(&l, S(CALL_FAILED), (struct fed_uam_arg){ .why = "w" }, DO(WAIT));
        give(&l, S(TIMER), (struct fed_uam_arg){ 0 }, DO(REGISTER));
    }
    give(&l, S(CALL_FAILED), (struct fed_uam_arg){ .why = NULL }, DO(END));
    assert_int_equal(l.u.state, S(FAILED));
    give(&l, S(KILL), (struct fed_uam_arg){ 0 }, DO(KILL));
    for (int i = 0; i < 2; i++) {
        give(&l, S(CALL_FAILED), (struct fed_uam_arg){ .why = "w" }, DO(WAIT));
        give(&l, S(TIMER), (struct fed_uam_arg){ 0 }, DO(KILL));
    }
    give(&l, S(KILLED), (struct fed_uam_arg){ 0 }, DO(END));
    assert_int_equal(l.u.state, S(FINISHED));
}

static void late_launch(void **state)
{
    struct life l;

    (void)state;
    begin(&l);
    give(&l, S(START), (struct fed_uam_arg){ 0 }, DO(SUBMIT));
    give(&l, S(SUBMITTED), (struct fed_uam_arg){ 0 }, DO(REPORT));
    for (int i = 0; i < 50; i++) {
        give(&l, S(REPORT), (struct fed_uam_arg){ .app = APP(NEW) }, DO(WAIT));
        assert_int_equal(l.u.wait_ms, 200);
        l.now_ms += 200;
        give(&l, S(TIMER), (struct fed_uam_arg){ 0 }, DO(REPORT));
    }
    give(&l, S(REPORT), (struct fed_uam_arg){ .app = APP(NEW) }, DO(WAIT));
    assert_int_equal(l.u.state, S(PAUSED));
    assert_non_null(strstr(l.u.why, "in time"));
}

static void graph(void **state)
{
    _cleanup_free_ char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    sv_fsm_print_dot(&fed_uam_fsm, f);
    fclose(f);
    assert_non_null(strstr(text, "SAVING -> REGISTERING [label=\"SAVED\"];"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_edge),  cmocka_unit_test(refused_events),
        cmocka_unit_test(whole_life),  cmocka_unit_test(registration_fails),
        cmocka_unit_test(late_launch), cmocka_unit_test(graph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
