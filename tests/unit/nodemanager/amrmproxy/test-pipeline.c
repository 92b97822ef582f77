/* amrmproxy/pipeline.c, attempt.c: calls in turn, the end, records, the real token. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "nodemanager/amrmproxy/pipeline.h"
#include "nodemanager/store/state-store.h"
#include "wire/exceptions.h"

/* ---- An interceptor that notes what it is told ---- */

static struct {
    struct nm_amrm_attempt *at;
    struct nm_amrm_call *call;
    int handled, tokens, stopped, freed, commits;
    size_t n_records;
    char record[64];
    enum nm_amrm_recovery from;
    bool refuses_records, refuses_start, stops_late;
} seen;

static int start(struct nm_amrm_attempt *at, void *shared, void **ret, struct sv_error *err)
{
    assert_ptr_equal(shared, &seen);
    seen.at = at;
    *ret = &seen;
    return seen.refuses_start ? sv_error_set(err, -EPERM, "not today") : 0;
}

static int recover(void *self, enum nm_amrm_recovery from, const struct nm_amrm_record *records,
                   size_t n, struct sv_error *err)
{
    (void)self;
    seen.from = from;
    seen.n_records = n;
    (void)snprintf(seen.record, sizeof(seen.record), "%s=%.*s", records[0].name,
                   (int)records[0].len, (const char *)records[0].data);
    return seen.refuses_records ? sv_error_set(err, -EBADMSG, "records of another time") : 0;
}

static void handle(void *self, struct nm_amrm_call *call)
{
    (void)self;
    assert_null(seen.call);
    seen.call = call;
    seen.handled++;
}

static void token(void *self)
{
    (void)self;
    seen.tokens++;
}

static void stop(void *self)
{
    (void)self;
    seen.stopped++;
    if (!seen.stops_late)
        nm_amrm_stopped(seen.at);
}

static void free_self(void *self)
{
    (void)self;
    seen.freed++;
}

static const struct nm_amrm_interceptor noting = { .java_class = "noting",
                                                   .start = start,
                                                   .recover = recover,
                                                   .handle = handle,
                                                   .token = token,
                                                   .stop = stop,
                                                   .free = free_self };

/* ---- The world ---- */

static struct {
    sd_event *event;
    struct nm_store *store;
    struct nm_amrm_env env;
    struct nm_amrm_pipeline *p;
    struct sv_arena *arena;
    bool ended;
} w;

static const struct yarn_attempt_id attempt = { { 17, 3 }, 1 };

static int set_up(void **state)
{
    struct sv_error err;

    (void)state;
    memset(&seen, 0, sizeof(seen));
    memset(&w, 0, sizeof(w));
    if (sd_event_new(&w.event) < 0 || nm_store_open(w.event, NULL, &w.store, &err) < 0)
        return -1;
    w.env = (struct nm_amrm_env){ .event = w.event, .store = w.store };
    w.arena = sv_arena_new(0);
    return w.arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    w.p = nm_amrm_pipeline_free(w.p);
    w.store = nm_store_close(w.store);
    w.event = sd_event_unref(w.event);
    w.arena = sv_arena_free(w.arena);
    return 0;
}

static void on_ended(struct nm_amrm_pipeline *p, void *userdata)
{
    assert_ptr_equal(userdata, &w);
    w.ended = true;
    w.p = NULL;
    nm_amrm_pipeline_free(p);
}

static struct yarn_token real(struct yarn_attempt_id id, const char *password)
{
    const struct yarn_amrm_token t = { .attempt = id, .key_id = 5 };
    struct yarn_token r = { .kind = YARN_KIND_AMRM,
                            .service = "",
                            .password = (const uint8_t *)password,
                            .password_len = strlen(password) };

    assert_int_equal(yarn_amrm_token_encode(w.arena, &t, &r.id, &r.id_len), 0);
    return r;
}

static int make(const struct nm_amrm_record *records, size_t n, enum nm_amrm_recovery from,
                struct sv_error *err)
{
    const struct yarn_token t = real(attempt, "first");

    return nm_amrm_pipeline_new(&(struct nm_amrm_pipeline_config){ .env = &w.env,
                                                                   .interceptor = &noting,
                                                                   .shared = &seen,
                                                                   .attempt = attempt,
                                                                   .user = "alice",
                                                                   .rm_token = &t,
                                                                   .records = records,
                                                                   .n_records = n,
                                                                   .from = from,
                                                                   .ended = on_ended,
                                                                   .userdata = &w },
                                &w.p, err);
}

static void made(void)
{
    struct sv_error err = { 0 };

    if (make(NULL, 0, NM_AMRM_SUCCEEDS, &err) < 0)
        fail_msg("%s", err.text);
}

static void run_until(const bool *done)
{
    while (!*done)
        assert_true(sd_event_run(w.event, UINT64_MAX) > 0);
}

static void run_all(void)
{
    while (sd_event_run(w.event, 0) > 0)
        ;
}

/* ---- Callers ---- */

struct caller {
    int answers, failures;
    char class[128], text[256];
};

static void answer(void *call, const ProtobufCMessage *response)
{
    struct caller *c = call;

    assert_ptr_equal(response->descriptor, &hadoop__yarn__allocate_response_proto__descriptor);
    c->answers++;
}

static void fail_call(void *call, const char *java_class, const char *text)
{
    struct caller *c = call;

    c->failures++;
    (void)snprintf(c->class, sizeof(c->class), "%s", java_class);
    (void)snprintf(c->text, sizeof(c->text), "%s", text);
}

static const struct nm_amrm_reply reply = { answer, fail_call };
static Hadoop__Yarn__AllocateRequestProto request = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;

static int call(struct caller *c)
{
    return nm_amrm_pipeline_call(w.p, NM_AMRM_ALLOCATE, &request.base, w.arena, &reply, c);
}

static void answer_open(void)
{
    Hadoop__Yarn__AllocateResponseProto m = HADOOP__YARN__ALLOCATE_RESPONSE_PROTO__INIT;
    struct nm_amrm_call *open = SV_TAKE(seen.call);

    nm_amrm_answer(open, &m.base);
}

/* ---- Cases ---- */

static void one_call_at_a_time(void **state)
{
    struct caller c[NM_AMRM_QUEUED_MAX + 2] = { 0 };
    size_t i;

    (void)state;
    made();
    for (i = 0; i <= NM_AMRM_QUEUED_MAX; i++)
        assert_int_equal(call(&c[i]), 0);
    assert_int_equal(call(&c[i]), -EBUSY);
    assert_int_equal(seen.handled, 1);
    assert_ptr_equal(seen.call->allocate, &request);
    answer_open();
    assert_int_equal(c[0].answers, 1);
    assert_int_equal(seen.handled, 1); /* from the loop, not from inside */
    run_all();
    assert_int_equal(seen.handled, 2);
    nm_amrm_fail(SV_TAKE(seen.call), "org.example.X", "no %d", 7);
    assert_string_equal(c[1].class, "org.example.X");
    assert_string_equal(c[1].text, "no 7");
    for (i = 2; i <= NM_AMRM_QUEUED_MAX; i++) {
        run_all();
        answer_open();
        assert_int_equal(c[i].answers, 1);
    }
    run_all();
    assert_null(seen.call);
    assert_int_equal(call(&c[0]), 0); /* and on */
    answer_open();
}

static int count_record(const struct nm_stored_amrm *r, void *u)
{
    assert_string_equal(r->attempt, "appattempt_17_0003_000001");
    (*(int *)u)++;
    return 0;
}

static int n_records(void)
{
    int n = 0;

    assert_int_equal(nm_store_each_amrm(w.store, NULL, count_record, &n), 0);
    return n;
}

static void the_end(void **state)
{
    struct caller open = { 0 }, waiting = { 0 }, late = { 0 };

    (void)state;
    made();
    seen.stops_late = true;
    assert_int_equal(nm_amrm_keep(seen.at, "registerRequest", "abc", 3), 0);
    assert_int_equal(n_records(), 3); /* with user and token */
    assert_int_equal(call(&open), 0);
    assert_int_equal(call(&waiting), 0);
    nm_amrm_pipeline_stop(w.p);
    assert_string_equal(open.class, JAVA_ATTEMPT_NOT_FOUND);
    assert_int_equal(waiting.failures, 1);
    assert_int_equal(call(&late), -ESHUTDOWN);
    run_all();
    assert_false(w.ended);
    assert_int_equal(n_records(), 3); /* a daemon killed now would stop it once more */
    nm_amrm_stopped(seen.at);
    assert_int_equal(seen.freed, 0);
    run_until(&w.ended);
    assert_int_equal(seen.freed, 1);
    assert_int_equal(n_records(), 0);
}

static void bad_start(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    seen.refuses_start = true;
    assert_int_equal(make(NULL, 0, NM_AMRM_SUCCEEDS, &err), -EPERM);
    assert_string_equal(err.text, "not today");
    assert_int_equal(n_records(), 0);
}

static void recovered(void **state)
{
    const struct nm_amrm_record records[] = { { "registerRequest", (const uint8_t *)"abc", 3 } };
    struct caller c = { 0 };
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(make(records, 1, NM_AMRM_RESTARTED, &err), 0);
    assert_int_equal(seen.n_records, 1);
    assert_string_equal(seen.record, "registerRequest=abc");
    assert_int_equal(seen.from, NM_AMRM_RESTARTED);
    w.p = nm_amrm_pipeline_free(w.p);
    seen.refuses_records = true;
    assert_int_equal(make(records, 1, NM_AMRM_RESTARTED, &err), 0);
    assert_int_equal(call(&c), 0);
    assert_string_equal(c.text, "records of another time");
    assert_int_equal(seen.handled, 0);
}

static void on_commit(void *userdata, int result)
{
    assert_int_equal(result, 0);
    (*(int *)userdata)++;
}

static void commits_end_with_the_attempt(void **state)
{
    int before = 0, after = 0;

    (void)state;
    made();
    assert_int_equal(nm_amrm_after_commit(seen.at, on_commit, &before), 0);
    assert_int_equal(nm_store_commit(w.store), 0);
    assert_int_equal(before, 1);
    assert_int_equal(nm_amrm_after_commit(seen.at, on_commit, &after), 0);
    w.p = nm_amrm_pipeline_free(w.p);
    assert_int_equal(nm_store_commit(w.store), 0);
    assert_int_equal(after, 0);
}

static int has_token(const struct nm_stored_amrm *r, void *u)
{
    struct yarn_token t;
    const char *text;

    if (strcmp(r->name, "amrmtoken") != 0)
        return 0;
    text = sv_arena_printf(w.arena, "%.*s", (int)r->len, (const char *)r->value);
    assert_int_equal(yarn_token_parse(w.arena, text, &t), 0);
    (void)snprintf(u, 32, "%.*s", (int)t.password_len, (const char *)t.password);
    return 0;
}

static void take(struct yarn_attempt_id id, const char *password)
{
    const struct yarn_token t = real(id, password);

    nm_amrm_take_token(seen.at, yarn_token_to(w.arena, &t));
}

static void new_token(void **state)
{
    const struct yarn_token foreign = { (const uint8_t *)"x", 1, (const uint8_t *)"y", 1,
                                        YARN_KIND_NM,         "" };
    char stored[32] = "";

    (void)state;
    made();
    take(attempt, "second");
    assert_memory_equal(seen.at->rm_token.password, "first", 5); /* not before it is on disk */
    assert_int_equal(nm_store_each_amrm(w.store, NULL, has_token, stored), 0);
    assert_string_equal(stored, "second");
    assert_int_equal(nm_store_commit(w.store), 0);
    assert_memory_equal(seen.at->rm_token.password, "second", 6);
    assert_int_equal(seen.tokens, 1);
    sv_log_set_level(SV_LOG_ERR);
    take((struct yarn_attempt_id){ { 17, 9 }, 1 }, "third"); /* another application's */
    nm_amrm_take_token(seen.at, yarn_token_to(w.arena, &foreign));
    assert_int_equal(nm_store_commit(w.store), 0);
    assert_memory_equal(seen.at->rm_token.password, "second", 6);
    take(attempt, "fourth"); /* the attempt ends before the commit */
    w.p = nm_amrm_pipeline_free(w.p);
    assert_int_equal(nm_store_commit(w.store), 0);
    assert_int_equal(seen.tokens, 1);
}

static void bounds_of_records(void **state)
{
    char name[NM_AMRM_RECORD_NAME + 1];

    (void)state;
    made();
    memset(name, 'x', sizeof(name));
    name[NM_AMRM_RECORD_NAME] = 0;
    assert_int_equal(nm_amrm_keep(seen.at, name, "", 0), -E2BIG);
    assert_int_equal(nm_amrm_keep(seen.at, "x", "", (size_t)NM_AMRM_RECORD_MAX + 1), -E2BIG);
    assert_int_equal(nm_amrm_keep(seen.at, "x", "", 0), 0);
    assert_int_equal(nm_amrm_forget(seen.at, "x"), 0);
    assert_int_equal(n_records(), 2);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(one_call_at_a_time), CASE(the_end),           CASE(bad_start),
        CASE(recovered),          CASE(bounds_of_records), CASE(commits_end_with_the_attempt),
        CASE(new_token),
    };

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
