/* Tests common/dispatcher.c: order, batches, payloads, the idle callback. */
#include "common/dispatcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/loop-guard.h"

enum { FIRST, SECOND };

struct trace {
    struct sv_dispatcher *d;
    char text[256];
    int idle_posts;
};

static void add(struct trace *t, const char *word)
{
    size_t n = strlen(t->text);

    (void)snprintf(t->text + n, sizeof(t->text) - n, "%s", word);
}

/* Event 1 posts event 2 to the other machine in the middle of its own handling. */
static void on_first(const struct sv_event *e, void *userdata)
{
    struct trace *t = userdata;

    add(t, e->type == 1 ? "<" : "a");
    if (e->type == 1)
        sv_dispatcher_post(t->d, &(struct sv_event){ .machine = SECOND, .type = 2, .object = t });
    if (e->type == 1)
        sv_dispatcher_run(t->d); /* does nothing here */
    add(t, e->type == 1 ? ">" : "");
    assert_ptr_equal(e->object, t);
}

static void on_second(const struct sv_event *e, void *userdata)
{
    struct trace *t = userdata;

    add(t, "b");
    if (e->text)
        add(t, e->text);
    if (e->payload) {
        assert_int_equal(e->payload_size, sizeof(int64_t));
        assert_int_equal((uintptr_t)e->payload % _Alignof(max_align_t), 0);
        add(t, *(const int64_t *)e->payload == 7 ? "7" : "?");
    }
}

static void on_idle(void *userdata)
{
    struct trace *t = userdata;

    add(t, ".");
    if (t->idle_posts-- > 0)
        sv_dispatcher_post(t->d, &(struct sv_event){ .machine = FIRST, .type = 3, .object = t });
}

static int setup(void **state)
{
    struct trace *t = calloc(1, sizeof(*t));

    t->d = sv_dispatcher_new();
    sv_dispatcher_register(t->d, FIRST, on_first, t);
    sv_dispatcher_register(t->d, SECOND, on_second, t);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct trace *t = *state;

    sv_dispatcher_free(t->d);
    free(t);
    return 0;
}

static void post(struct trace *t, int machine, int type)
{
    sv_dispatcher_post(t->d, &(struct sv_event){ .machine = machine, .type = type, .object = t });
}

static void test_post_handles_at_once(void **state)
{
    struct trace *t = *state;

    post(t, FIRST, 3);
    assert_string_equal(t->text, "a");
}

static void test_nested_post_waits_for_its_turn(void **state)
{
    struct trace *t = *state;

    post(t, FIRST, 1);
    assert_string_equal(t->text, "<>b");
}

static void test_batch_delays_until_outermost_end(void **state)
{
    struct trace *t = *state;

    {
        SV_DISPATCH_BATCH(t->d);
        post(t, FIRST, 1);
        {
            SV_DISPATCH_BATCH(t->d);
            post(t, FIRST, 3);
        }
        assert_string_equal(t->text, "");
    }
    assert_string_equal(t->text, "<>ab");
}

static void test_run_inside_batch(void **state)
{
    struct trace *t = *state;
    SV_DISPATCH_BATCH(t->d);

    post(t, FIRST, 3);
    sv_dispatcher_run(t->d);
    assert_string_equal(t->text, "a");
}

static void test_text_and_payload_are_copied(void **state)
{
    struct trace *t = *state;
    int64_t number = 7;
    char text[] = "text";

    {
        SV_DISPATCH_BATCH(t->d);
        sv_dispatcher_post(t->d, &(struct sv_event){ .machine = SECOND,
                                                     .text = text,
                                                     .payload = &number,
                                                     .payload_size = sizeof(number) });
        number = 8;
        text[0] = 'x';
    }
    assert_string_equal(t->text, "btext7");
}

static void test_idle_runs_when_queue_is_empty_and_may_post(void **state)
{
    struct trace *t = *state;

    t->idle_posts = 1;
    sv_dispatcher_on_idle(t->d, on_idle, t);
    post(t, FIRST, 1);
    assert_string_equal(t->text, "<>b.a.");
}

/* ---- Turns ---- */

static struct {
    int64_t now;
    int handled, in_first_handler; /* events */
    bool ordered;
} turns;

/* Each event takes 2 ms. */
static void on_slow(const struct sv_event *e, void *userdata)
{
    (void)userdata;
    assert_true(sv_loop_spent_ms() < SV_DISPATCHER_TURN_MS);
    turns.ordered = turns.ordered && e->type == turns.handled;
    turns.handled++;
    sv_clock_set_test(turns.now += 2, 1);
}

static int on_posts(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct trace *t = userdata;

    (void)s;
    for (int i = 0; i < 100; i++)
        post(t, SECOND, i);
    turns.in_first_handler = turns.handled;
    return 0;
}

static int on_end(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)userdata;
    return sd_event_exit(sd_event_source_get_event(s), 0);
}

/* A handler that posts many events handles some of them; the others follow, in their order. */
static void test_long_queues_take_turns(void **state)
{
    struct trace t = { .d = sv_dispatcher_new() };
    sd_event_source *posts, *end;
    sd_event *event = NULL;

    (void)state;
    turns.now = 1000;
    turns.ordered = true;
    sv_clock_set_test(turns.now, 1);
    assert_return_code(sd_event_new(&event), 0);
    assert_return_code(sv_dispatcher_take_turns(t.d, event), 0);
    sv_dispatcher_register(t.d, SECOND, on_slow, &t);
    sv_dispatcher_on_idle(t.d, on_idle, &t);
    assert_return_code(sd_event_add_defer(event, &posts, on_posts, &t), 0);
    assert_return_code(sd_event_add_defer(event, &end, on_end, NULL), 0);
    assert_return_code(sd_event_source_set_priority(end, SD_EVENT_PRIORITY_IDLE), 0);
    assert_return_code(sv_loop_run(event), 0);
    assert_int_equal(turns.in_first_handler, 3);
    assert_int_equal(turns.handled, 100);
    assert_true(turns.ordered);
    assert_string_equal(t.text + strlen(t.text) - 1, ".");
    sv_clock_reset();
    sd_event_source_unref(posts);
    sd_event_source_unref(end);
    sv_dispatcher_free(t.d);
    sd_event_unref(event);
}

static void test_free_drops_unhandled_events(void **state)
{
    struct trace *t = *state;
    struct sv_dispatcher *d = sv_dispatcher_new();

    sv_dispatcher_register(d, FIRST, on_first, t);
    d = sv_dispatcher_begin(d);
    sv_dispatcher_post(d, &(struct sv_event){ .machine = FIRST, .type = 3, .text = "lost" });
    assert_null(sv_dispatcher_free(d));
    assert_string_equal(t->text, "");
    assert_null(sv_dispatcher_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_post_handles_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nested_post_waits_for_its_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(test_batch_delays_until_outermost_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_run_inside_batch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_text_and_payload_are_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(test_idle_runs_when_queue_is_empty_and_may_post, setup,
                                        teardown),
        cmocka_unit_test(test_long_queues_take_turns),
        cmocka_unit_test_setup_teardown(test_free_drops_unhandled_events, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
