/* Services for an attempt's interceptor: keep records, wait for their commit, take a new token. See
 * pipeline.h. Hostile: the token, which a ResourceManager sends. */
#include "nodemanager/amrmproxy/attempt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "nodemanager/store/state-store.h"

#define TOKEN_ARENA_MAX (256u << 10)

struct nm_amrm_wait {           /* for a commit, which cannot be cancelled */
    struct nm_amrm_attempt *at; /* NULL: the attempt is gone */
    void (*fn)(void *userdata, int result);
    void *userdata;
    struct nm_amrm_wait *prev, *next;
};

struct new_token {
    struct nm_amrm_attempt *at;
    struct sv_arena *memory;
    struct yarn_token token;
};

int nm_amrm_keep(struct nm_amrm_attempt *at, const char *name, const void *p, size_t n)
{
    if (strlen(name) >= NM_AMRM_RECORD_NAME || n > NM_AMRM_RECORD_MAX)
        return -E2BIG;
    return nm_store_amrm(at->env->store, at->text, name, p, n);
}

int nm_amrm_forget(struct nm_amrm_attempt *at, const char *name)
{
    return nm_store_amrm_remove(at->env->store, at->text, name);
}

/* ---- Commits ---- */

static void on_commit(void *userdata, int result)
{
    struct nm_amrm_wait *w = userdata;

    if (w->at) {
        DL_DELETE(w->at->waits, w);
        w->fn(w->userdata, result);
    }
    free(w);
}

int nm_amrm_after_commit(struct nm_amrm_attempt *at, void (*fn)(void *userdata, int result),
                         void *userdata)
{
    struct nm_amrm_wait *w = calloc(1, sizeof(*w));
    int r;

    if (!w)
        return -ENOMEM;
    *w = (struct nm_amrm_wait){ .at = at, .fn = fn, .userdata = userdata };
    r = nm_store_after_commit(at->env->store, on_commit, w);
    if (r < 0) {
        free(w);
        return -ENOMEM;
    }
    DL_APPEND(at->waits, w);
    return 0;
}

/* ---- The real token ---- */

static void use_token(struct nm_amrm_attempt *at, struct sv_arena *memory,
                      const struct yarn_token *t)
{
    sv_arena_wipe(at->token_memory);
    at->token_memory = memory;
    at->rm_token = *t;
}

static void free_new_token(struct new_token *n)
{
    sv_arena_wipe(n->memory);
    free(n);
}

static void on_token_kept(void *userdata, int result)
{
    struct new_token *n = userdata;

    if (result < 0) {
        sv_log(SV_LOG_WARNING, n->at->app_text,
               "%s: its new AMRMToken could not be recorded: the last one is used", n->at->text);
    } else {
        use_token(n->at, SV_TAKE(n->memory), &n->token);
        sv_log(SV_LOG_INFO, n->at->app_text, "%s: the ResourceManager has rolled its AMRMToken",
               n->at->text);
        if (n->at->token_changed)
            n->at->token_changed(n->at);
    }
    free_new_token(n);
}

int nm_amrm_keep_token(struct nm_amrm_attempt *at, const struct yarn_token *t)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(TOKEN_ARENA_MAX);
    const char *text;
    int r = a ? yarn_token_text(a, t, &text) : -ENOMEM;

    return r < 0 ? r : nm_amrm_keep(at, NM_AMRM_RECORD_TOKEN, text, strlen(text));
}

static int take(struct new_token *n, const Hadoop__Common__TokenProto *m)
{
    struct yarn_amrm_token id;
    int r = yarn_token_from(m, n->memory, &n->token);

    if (r >= 0 && strcmp(n->token.kind, YARN_KIND_AMRM) != 0)
        r = -EBADMSG;
    if (r >= 0)
        r = yarn_amrm_token_decode(n->token.id, n->token.id_len, &id, NULL);
    if (r >= 0 && yarn_app_id_cmp(id.attempt.app, n->at->id.app) != 0)
        r = -EBADMSG;
    if (r >= 0)
        r = nm_amrm_keep_token(n->at, &n->token);
    return r < 0 ? r : nm_amrm_after_commit(n->at, on_token_kept, n);
}

void nm_amrm_take_token(struct nm_amrm_attempt *at, const Hadoop__Common__TokenProto *m)
{
    struct new_token *n = calloc(1, sizeof(*n));
    int r = -ENOMEM;

    if (n) {
        *n = (struct new_token){ .at = at, .memory = sv_arena_new(TOKEN_ARENA_MAX) };
        r = n->memory ? take(n, m) : -ENOMEM;
    }
    if (r >= 0)
        return;
    sv_log(SV_LOG_WARNING, at->app_text,
           "%s: the new AMRMToken that the ResourceManager has sent is not usable (%s): the last "
           "one is used",
           at->text, strerror(-r));
    if (n)
        free_new_token(n);
}

/* ---- Life ---- */

int nm_amrm_attempt_open(struct nm_amrm_attempt *at, const char *user, const struct yarn_token *t)
{
    struct sv_arena *a = sv_arena_new(TOKEN_ARENA_MAX);
    struct yarn_token copy = { .id_len = t->id_len, .password_len = t->password_len };

    if (!a)
        return -ENOMEM;
    yarn_attempt_id_text(at->id, at->text);
    yarn_app_id_text(at->id.app, at->app_text);
    copy.id = sv_arena_memdup(a, t->id, t->id_len);
    copy.password = sv_arena_memdup(a, t->password, t->password_len);
    copy.kind = sv_arena_strdup(a, t->kind);
    copy.service = sv_arena_strdup(a, t->service);
    at->user = strdup(user);
    if (!copy.id || !copy.password || !copy.kind || !copy.service || !at->user) {
        sv_arena_wipe(a);
        return -ENOMEM;
    }
    use_token(at, a, &copy);
    return 0;
}

void nm_amrm_attempt_close(struct nm_amrm_attempt *at)
{
    struct nm_amrm_wait *w, *next;

    DL_FOREACH_SAFE (at->waits, w, next) {
        if (w->fn == on_token_kept)
            free_new_token(w->userdata);
        w->at = NULL;
    }
    at->waits = NULL;
    at->token_memory = sv_arena_wipe(at->token_memory);
    free((char *)at->user);
    at->user = NULL;
}
