/* The launcher of frameworks: a call "METHOD URI\n" with its body, a byte 1, a master's request, a
 * byte 1, diagnostics. Every answer has a status and a body that is JSON; the store takes what was
 * accepted, and reads it again. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/launcher/diagnostics.h"
#include "service/launcher/link.h"
#include "service/launcher/rest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static int64_t wall_ms(void *u)
{
    (void)u;
    return 1000000;
}
static uint64_t number(void *u)
{
    (void)u;
    return 3;
}
static int new_id(void *u, const char *framework, uint64_t generation)
{
    (void)u;
    (void)framework;
    (void)generation;
    return 0;
}
static int submit(void *u, const struct svc_framework *f)
{
    (void)u;
    (void)f;
    return 0;
}
static int end(void *u, const char *app, const char *user, const char *framework)
{
    (void)u;
    (void)app;
    (void)user;
    (void)framework;
    return -EAGAIN;
}
static void nothing(void *u)
{
    (void)u;
}
static void changed(void *u, const char *framework)
{
    (void)u;
    (void)framework;
}

static void check(struct svc_lr_answer *a)
{
    struct sv_buf b = SV_BUF_INIT(16 << 20);
    json_t *o;
    int r = 1;

    MUST(a->status >= 200 && a->status < 600);
    while (a->pieces && r > 0)
        r = svc_lr_pieces_next(a->pieces, &b, 512);
    MUST(r >= 0);
    if (a->pieces || (a->len && !a->plain)) {
        o = json_loadb(a->pieces ? (char *)b.data : a->body, a->pieces ? b.len : a->len,
                       JSON_REJECT_DUPLICATES, NULL);
        MUST(o);
        json_decref(o);
    }
    (void)svc_lr_pieces_free(a->pieces);
    sv_buf_free(&b);
    free(a->body);
    free(a->location);
}

static void call(struct svc_lr *l, char *text)
{
    char *body = strchr(text, '\n'), *uri = strchr(text, ' ');
    struct svc_lr_call c = { .method = text, .is_json = true, .host = "h", .peer = "p" };
    struct svc_lr_answer a;

    if (!body || !uri || uri > body)
        return;
    *body++ = '\0';
    *uri++ = '\0';
    if (*uri != '/')
        return;
    c.uri = uri;
    c.body = body;
    c.body_len = strlen(body);
    svc_lr_rest(l, &c, &a);
    check(&a);
}

static void tell(struct svc_lr *l, const char *body)
{
    struct svc_framework *f = svc_lr_find(&l->all, "a");
    struct svc_lr_call c = { .method = "POST",
                             .uri = "/v1/Masters/a",
                             .is_json = true,
                             .body = body,
                             .body_len = strlen(body) };
    char token[SVC_LR_TOKEN_TEXT] = "";
    struct svc_lr_told told = { 0 };
    struct svc_lr_answer a;

    if (!f)
        return;
    svc_lr_on_id(l, "a", f->generation, 0, (struct yarn_app_id){ 1700000000000, 1 });
    svc_lr_on_submitted(l, (struct yarn_app_id){ 1700000000000, 1 }, 0, "");
    MUST(svc_lr_token(l, f, token) == 0);
    if (svc_lr_link_take(l, &c, token, &told, &a) == 0)
        MUST(svc_lr_link_answer(l, &told, true, false, &a));
    svc_lr_told_free(&told);
    check(&a);
}

static void words(const char *text)
{
    struct svc_lr_exit x = { .trigger_index = -1 };
    int r = svc_lr_diagnostics(text, &x);

    MUST(r == 0 || r == -ENOENT || r == -EBADMSG);
    svc_lr_exit_free(&x);
    svc_lr_diagnostics_lost(-7352, text, &x);
    svc_lr_exit_free(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct svc_lr_settings settings = { .resync_s = 30,
                                                     .max_tasks = 1000,
                                                     .user_share = 50 };
    const struct svc_lr_world world = { NULL, wall_ms, number,  new_id, submit,
                                        end,  nothing, nothing, changed };
    struct svc_lr_store *store = NULL;
    struct svc_lr *l = NULL;
    struct sv_error err = { 0 };
    char *text = malloc(size + 1), *told, *said;

    MUST(text);
    memcpy(text, data, size);
    text[size] = '\0';
    told = strchr(text, 1);
    if (told)
        *told++ = '\0';
    said = told ? strchr(told, 1) : NULL;
    if (said)
        *said++ = '\0';
    MUST(svc_lr_store_open(NULL, &store, &err) == 0);
    MUST(svc_lr_new(&settings, &world, store, &l, &err) == 0);
    call(l, text);
    if (told)
        tell(l, told);
    if (said)
        words(said);
    /* From the store again. */
    l->broken = true;
    svc_lr_tick(l);
    MUST(!l->broken);
    {
        char again[] = "GET /v1/Frameworks/a\n";

        call(l, again);
    }
    (void)svc_lr_free(l);
    free(text);
    return 0;
}
