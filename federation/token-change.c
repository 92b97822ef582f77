/* See token-change.h. The row is read, compared, and written or deleted. */
#include "federation/token-change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/clock.h"
#include "federation/store/token-info.h"
#include "wire/exceptions.h"

struct change {
    struct fed_store *store;
    struct sv_arena *a; /* of token and texts; wiped */
    struct yarn_delegation_token what;
    struct yarn_token token;
    struct yarn_token_caller who;
    bool cancel;
    int64_t renew_ms, expires_ms;
    fed_token_done done;
    void *userdata;
};

int fed_token_failure(int error, const char **ret_class)
{
    const bool later = error == -ENOMEM || error == -ECANCELED || fed_error_away(error);

    *ret_class = later ? JAVA_RETRIABLE : JAVA_IO_EXCEPTION;
    return later ? -EAGAIN : -EACCES;
}

/* ---- Ends ---- */

static void end(struct change *c, const struct fed_token_changed *r)
{
    struct fed_token_changed with = *r;

    with.sequence = c->what.sequence;
    c->done(&with, c->userdata);
    sv_arena_wipe(c->a);
    free(c);
}

static void refused(struct change *c, const char *class, const struct sv_error *err)
{
    end(c,
        &(struct fed_token_changed){ .status = -EACCES, .java_class = class, .text = err->text });
}

static void failed(struct change *c, int error, const char *reason)
{
    struct fed_token_changed r = { 0 };
    char text[SV_ERROR_TEXT_MAX];

    r.status = fed_token_failure(error, &r.java_class);
    (void)snprintf(text, sizeof(text), "the federation's state store: %s",
                   reason && *reason ? reason : strerror(-error)); /* cut where longer, ignoring */
    r.text = text;
    end(c, &r);
}

static void call(struct change *c, const struct fed_request *q, fed_done done)
{
    int r = fed_store_call(c->store, q, done, c, NULL);

    if (r < 0)
        failed(c, r, NULL);
}

/* ---- Steps ---- */

static void on_changed(const struct fed_answer *a, void *userdata)
{
    struct change *c = userdata;
    const char *class = NULL;
    struct sv_error err = { 0 };

    if (a->error == -ENOENT) { /* somebody else was faster */
        (void)yarn_delegation_unknown(&c->what, c->cancel, &class, &err);
        refused(c, class, &err);
    } else if (a->error < 0) {
        failed(c, a->error, a->reason);
    } else {
        end(c, &(struct fed_token_changed){ .expires_ms = c->expires_ms });
    }
}

static void write_row(struct change *c)
{
    struct fed_token_info info = { c->token.password, c->token.password_len, 0 };
    struct fed_request q = { .op = FED_TOKEN_UPDATE, .token = { .sequence = c->what.sequence } };

    c->expires_ms = SV_MIN(c->what.max_ms, sv_wall_ms() + c->renew_ms);
    info.renew_ms = c->expires_ms;
    q.token.identifier = c->token.id;
    q.token.identifier_len = c->token.id_len;
    q.token.renew_ms = c->expires_ms;
    q.token.info = fed_token_info_write(c->a, &info);
    if (q.token.info)
        call(c, &q, on_changed);
    else
        failed(c, -ENOMEM, NULL);
}

static void delete_row(struct change *c)
{
    call(c,
         &(struct fed_request){ .op = FED_TOKEN_DELETE, .token = { .sequence = c->what.sequence } },
         on_changed);
}

/* The stored token is the one that is presented, and so is its password. */
static int check_row(const struct change *c, const struct fed_token *row, const char **ret_class,
                     struct sv_error *err)
{
    struct fed_token_info info;

    if (fed_token_info_read(c->a, row->info, &info) < 0)
        return yarn_delegation_refuse(err, ret_class, JAVA_IO_EXCEPTION,
                                      "the federation's state store has no password of token %d",
                                      c->what.sequence);
    if (!yarn_bytes_equal(row->identifier, row->identifier_len, c->token.id, c->token.id_len))
        return yarn_delegation_unknown(&c->what, c->cancel, ret_class, err);
    if (!yarn_bytes_equal(info.password, info.password_len, c->token.password,
                          c->token.password_len))
        return yarn_delegation_wrong_password(&c->what, c->who.user, c->cancel, ret_class, err);
    return 0;
}

static void on_row(const struct fed_answer *a, void *userdata)
{
    struct change *c = userdata;
    const char *class = JAVA_IO_EXCEPTION;
    struct sv_error err = { 0 };
    int r;

    if (a->error < 0 && a->error != -ENOENT) {
        failed(c, a->error, a->reason);
        return;
    }
    r = a->error == -ENOENT ? yarn_delegation_unknown(&c->what, c->cancel, &class, &err)
                            : check_row(c, &a->tokens[0], &class, &err);
    if (r < 0)
        refused(c, class, &err);
    else if (c->cancel)
        delete_row(c);
    else
        write_row(c);
}

static int copy(struct change *c, const struct yarn_token *token,
                const struct yarn_token_caller *who)
{
    c->token = *token;
    c->token.id = sv_arena_memdup(c->a, token->id, token->id_len);
    c->token.password = sv_arena_memdup(c->a, token->password, token->password_len);
    c->who.user = sv_arena_strdup(c->a, who->user);
    c->who.full_name = sv_arena_strdup(c->a, who->full_name);
    return c->token.id && c->token.password && c->who.user && c->who.full_name ? 0 : -ENOMEM;
}

static int check_caller(struct change *c, bool self, const char **ret_class, struct sv_error *err)
{
    int r = yarn_delegation_token_decode(c->token.id, c->token.id_len, &c->what, err);

    if (r < 0)
        return r;
    if (c->cancel)
        return yarn_delegation_may_cancel(&c->what, &c->who, ret_class, err);
    return yarn_delegation_may_renew(&c->what, &c->who, self, sv_wall_ms(), ret_class, err);
}

static void no_memory(fed_token_done done, void *userdata)
{
    done(&(struct fed_token_changed){ .status = -EAGAIN,
                                      .java_class = JAVA_RETRIABLE,
                                      .text = "there is no memory for the call" },
         userdata);
}

void fed_token_change(struct fed_store *s, const struct fed_token_change *q, fed_token_done done,
                      void *userdata)
{
    struct change *c = calloc(1, sizeof(*c));
    const char *class = JAVA_IO_EXCEPTION;
    struct sv_error err = { 0 };

    if (c)
        *c = (struct change){ .store = s,
                              .a = sv_arena_new(0),
                              .cancel = q->cancel,
                              .renew_ms = q->renew_ms,
                              .done = done,
                              .userdata = userdata };
    if (!c || !c->a) {
        free(c);
        no_memory(done, userdata);
        return;
    }
    if (copy(c, q->token, &q->who) < 0)
        failed(c, -ENOMEM, NULL);
    else if (check_caller(c, q->self, &class, &err) < 0)
        refused(c, class, &err);
    else
        call(
            c,
            &(struct fed_request){ .op = FED_TOKEN_GET, .token = { .sequence = c->what.sequence } },
            on_row);
}
