/* Fixture of test-ipc-client and test-ipc-client-sasl: an IPC client and its fake server. */
#ifndef SELVEDGE_TESTS_UNIT_WIRE_IPC_CLIENT_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_WIRE_IPC_CLIENT_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/wire/ipc-fake-server.h"
#include "tests/unit/wire/ipc-peer.h"

struct fixture {
    sd_event *event;
    struct fake fake;
    struct ipc_client *client;
    void *userdata;
};

struct answer {
    int count, status;
    bool sent;
    char text[SV_ERROR_TEXT_MAX], class[SV_ERROR_TEXT_MAX], echo[64];
};

static inline void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct answer *a = userdata;
    a->count++;
    a->status = r->status;
    a->sent = r->sent;
    snprintf(a->text, sizeof(a->text), "%s", r->status < 0 ? err->text : "");
    snprintf(a->class, sizeof(a->class), "%s", r->java_class ? r->java_class : "");
    if (r->response && r->response->descriptor == ECHO_DESCRIPTOR)
        snprintf(a->echo, sizeof(a->echo), "%s", ((const echo_message *)r->response)->protocol);
}

static inline void client_new(struct fixture *w, const struct yarn_token *token,
                              const struct ipc_client_config *more)
{
    struct ipc_client_config cfg = more ? *more : (struct ipc_client_config){ 0 };
    cfg.host = "127.0.0.1";
    cfg.port = w->fake.port;
    cfg.protocol = PEER_PROTOCOL;
    cfg.version = 1;
    cfg.user = "alice";
    cfg.token = token;
    assert_int_equal(ipc_client_new(w->event, &cfg, &w->client, NULL), 0);
}

static inline void fixture_new(struct fixture *w, const struct yarn_token *token,
                               const struct ipc_client_config *more)
{
    memset(w, 0, sizeof(*w));
    assert_true(sd_event_new(&w->event) >= 0);
    fake_start(&w->fake, w->event, 0);
    w->fake.userdata = w;
    client_new(w, token, more);
}

static inline void fixture_free(struct fixture *w)
{
    ipc_client_free(w->client);
    fake_stop(&w->fake);
    sd_event_unref(w->event);
}

static inline int32_t call(struct fixture *w, const char *text, struct answer *a)
{
    echo_message m = ECHO_INIT;
    int32_t id;
    m.protocol = (char *)(uintptr_t)text;
    size_t n = protobuf_c_message_get_packed_size(&m.base);
    uint8_t *body = malloc(n);
    protobuf_c_message_pack(&m.base, body);
    struct ipc_request q = {
        .method = "echo", .response = ECHO_DESCRIPTOR, .body = body, .body_len = n
    };
    assert_int_equal(ipc_client_start(w->client, &q, on_answer, a, &id), 0);
    free(body);
    return id;
}

static inline void say_echo(struct fake *f, const struct fake_call *c)
{
    if (c->id >= 0)
        fake_echo(f, c->id, "good");
}

#endif
