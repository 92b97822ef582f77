/* am/start-masters.c: masters of a call are asked about one after the other; those without a good
 * token are none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/am/container-manager.h"
#include "nodemanager/am/start-masters.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/store/state-store.h"

static struct {
    sd_event *event;
    struct nm_context ctx;
    struct nm_am am;
    struct sv_arena *arena;
    struct nm_masters masters;
    int done, asked;
    void (*answer)(int served, const char *why, void *userdata);
    void *userdata;
    bool no_memory;
} w;

static const struct yarn_node_id node = { "node1", 8041 };
static const struct yarn_master_key key = { .key_id = 1, .bytes = "12345678", .len = 8 };

/* ---- The AMRMProxy ---- */

bool nm_amrm_wants(const struct nm_amrm *p, const struct yarn_container_token *t)
{
    return p && t->container_type == NM_APPLICATION_MASTER;
}

int nm_amrm_ask(struct nm_amrm *p, const struct yarn_container_token *t,
                void (*done)(int served, const char *why, void *userdata), void *userdata)
{
    (void)p;
    assert_string_equal(t->submitter, "alice");
    w.asked++;
    w.answer = done;
    w.userdata = userdata;
    return w.no_memory ? -ENOMEM : 0;
}

/* ---- Calls ---- */

static Hadoop__Yarn__StartContainerRequestProto *request(int64_t container, int type, bool signs)
{
    const struct yarn_container_token t = { .container = { { { 17, 3 }, 1 }, container },
                                            .nm_addr = "node1:8041",
                                            .submitter = "alice",
                                            .resource = { 64, 1 },
                                            .key_id = 1,
                                            .container_type = type };
    uint8_t *password = sv_arena_alloc(w.arena, YARN_TOKEN_PASSWORD_MAX);
    Hadoop__Yarn__StartContainerRequestProto *q =
        sv_new(w.arena, Hadoop__Yarn__StartContainerRequestProto);
    struct yarn_token token = { .kind = YARN_KIND_CONTAINER, .service = "", .password = password };

    assert_int_equal(yarn_container_token_encode(w.arena, &t, &token.id, &token.id_len), 0);
    assert_int_equal(yarn_token_password(YARN_HMAC_SHA1, &key, token.id, token.id_len, password,
                                         &token.password_len),
                     0);
    password[0] ^= !signs;
    hadoop__yarn__start_container_request_proto__init(q);
    q->container_token = yarn_token_to(w.arena, &token);
    return q;
}

static int set_up(void **state)
{
    Hadoop__Yarn__MasterKeyProto m;
    struct sv_error err;

    (void)state;
    memset(&w, 0, sizeof(w));
    w.arena = sv_arena_new(0);
    if (!w.arena || sd_event_new(&w.event) < 0 ||
        nm_store_open(w.event, NULL, &w.ctx.store, &err) < 0 ||
        nm_secrets_new(w.ctx.store, YARN_HMAC_SHA1, &w.ctx.secrets) < 0)
        return -1;
    nm_secrets_set_node(w.ctx.secrets, &node);
    hadoop__yarn__master_key_proto__init(&m);
    m.has_key_id = m.has_bytes = true;
    m.key_id = 1;
    m.bytes = (ProtobufCBinaryData){ key.len, (uint8_t *)(uintptr_t)key.bytes };
    w.am = (struct nm_am){ .ctx = &w.ctx, .amrm = (struct nm_amrm *)(uintptr_t)&w };
    return nm_secrets_set_container_key(w.ctx.secrets, &m);
}

static int tear_down(void **state)
{
    (void)state;
    w.ctx.secrets = nm_secrets_free(w.ctx.secrets);
    w.ctx.store = nm_store_close(w.ctx.store);
    w.event = sd_event_unref(w.event);
    w.arena = sv_arena_free(w.arena);
    return 0;
}

static void on_done(void *userdata)
{
    assert_ptr_equal(userdata, &w);
    w.done++;
}

static void ask(Hadoop__Yarn__StartContainerRequestProto **q, size_t n)
{
    nm_cm_masters_find(&w.am, q, n, w.arena, &w.masters);
    nm_cm_masters_ask(&w.am, &w.masters, on_done, &w);
}

/* ---- Cases ---- */

static void none(void **state)
{
    Hadoop__Yarn__StartContainerRequestProto *q[] = { request(1, 2, true), request(2, 1, false),
                                                      sv_new(w.arena, __typeof__(*q[0])) };

    (void)state;
    hadoop__yarn__start_container_request_proto__init(q[2]);
    ask(q, 3);
    assert_int_equal(w.done, 1);
    assert_int_equal(w.asked, 0);
    assert_null(nm_cm_master(&w.masters, 1));
    w.am.amrm = NULL; /* off */
    q[0] = request(1, 1, true);
    ask(q, 1);
    assert_int_equal(w.done, 2);
    assert_null(nm_cm_master(&w.masters, 0));
}

static void several(void **state)
{
    Hadoop__Yarn__StartContainerRequestProto *q[] = { request(1, 1, true), request(2, 2, true),
                                                      request(3, 1, true), request(4, 1, true) };

    (void)state;
    ask(q, 4);
    assert_int_equal(w.asked, 1);
    w.answer(1, "", w.userdata);
    assert_int_equal(w.asked, 2);
    w.answer(-ETIMEDOUT, "it did not answer in time", w.userdata);
    w.no_memory = true;
    assert_int_equal(w.done, 0);
    w.answer(0, "", w.userdata);
    assert_int_equal(w.done, 1);
    assert_int_equal(nm_cm_master(&w.masters, 0)->served, 1);
    assert_null(nm_cm_master(&w.masters, 1));
    assert_int_equal(nm_cm_master(&w.masters, 2)->served, -ETIMEDOUT);
    assert_non_null(strstr(nm_cm_master(&w.masters, 2)->why, "it did not answer in time"));
    assert_int_equal(nm_cm_master(&w.masters, 3)->served, 0);
}

static void too_many(void **state)
{
    Hadoop__Yarn__StartContainerRequestProto *q[NM_MASTERS_MAX + 1];

    (void)state;
    w.no_memory = true;
    for (int i = 0; i <= NM_MASTERS_MAX; i++)
        q[i] = request(i + 1, 1, true);
    ask(q, NM_MASTERS_MAX + 1);
    assert_int_equal(w.done, 1);
    assert_int_equal(nm_cm_master(&w.masters, 0)->served, -ENOMEM);
    assert_null(nm_cm_master(&w.masters, NM_MASTERS_MAX)); /* start-containers.c refuses it */
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = { CASE(none), CASE(several), CASE(too_many) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
