/* See store-history.h. Rows are validated when read, because a disk may be corrupt; names in them
 * are users'. */
#include "rm-lite/store/store-history.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/text.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/store/store-internal.h"

static_assert(RM_RES_EXTRA == 2, "columns of the table history");

bool rm_store_keeps_history(const struct rm *rm)
{
    return rm->store->db && rm->conf.history_apps > 0;
}

int64_t rm_store_history_count(const struct rm *rm)
{
    return rm->store->n_history;
}

int64_t rm_store_history_oldest(const struct rm *rm)
{
    return rm->store->oldest_ms;
}

/* ---- Writing ---- */

static int final_state(const struct rm_app *app)
{
    if (rm_app_is_final(app))
        return app->state;
    return app->target == RM_APP_ST_FINISHING ? RM_APP_ST_FINISHED : app->target;
}

/* The longest start of the text that a row keeps. */
static void bind_cut(sqlite3_stmt *q, int i, const char *text, size_t max)
{
    text = text ? text : "";
    (void)sqlite3_bind_text(q, i, text, (int)rm_text_start(text, max), SQLITE_STATIC);
}

/* Part of a list would name others. */
static void bind_acl(sqlite3_stmt *q, int i, const char *acl)
{
    if (acl && strlen(acl) <= RM_PAST_ACL_MAX)
        (void)sqlite3_bind_text(q, i, acl, -1, SQLITE_STATIC);
}

static void bind_usage(sqlite3_stmt *q, const struct rm_app *app)
{
    struct rm_usage_row rows[RM_USAGE_ROWS];
    int n = rm_app_usage_rows(app, rows), i = 15;

    (void)sqlite3_bind_int64(q, 13, rows[0].used_ms);
    (void)sqlite3_bind_int64(q, 14, rows[1].used_ms);
    for (int k = 2; k < n; k++)
        if (rows[k].used_ms != 0) {
            (void)sqlite3_bind_text(q, i++, rows[k].type, -1, SQLITE_STATIC);
            (void)sqlite3_bind_int64(q, i++, rows[k].used_ms);
        }
}

/* Deletes the row of this id; true: the store works. */
static bool replace(struct rm_store *s, struct yarn_app_id id)
{
    sqlite3_stmt *q = s->stmts[DEL_PAST];

    (void)sqlite3_bind_int64(q, 1, id.cluster_ts);
    (void)sqlite3_bind_int(q, 2, id.id);
    rm_store_write(s, DEL_PAST);
    if (!s->broken)
        s->n_history -= sqlite3_changes(s->db);
    return !s->broken;
}

void rm_store_history_put(struct rm *rm, const struct rm_app *app)
{
    struct rm_store *s = rm->store;
    sqlite3_stmt *q = s->stmts[PUT_PAST];

    if (!rm_store_keeps_history(rm) || !rm_store_begin(s) || !replace(s, app->id))
        return;
    (void)sqlite3_bind_int64(q, 1, app->id.cluster_ts);
    (void)sqlite3_bind_int(q, 2, app->id.id);
    (void)sqlite3_bind_int64(q, 3, app->finish_ms);
    (void)sqlite3_bind_text(q, 4, app->user, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(q, 5, app->queue, -1, SQLITE_STATIC);
    bind_cut(q, 6, app->name, RM_PAST_NAME_MAX);
    bind_cut(q, 7, app->type, RM_TYPE_MAX);
    (void)sqlite3_bind_int(q, 8, final_state(app));
    (void)sqlite3_bind_int(q, 9, app->final_status);
    (void)sqlite3_bind_int64(q, 10, app->start_ms);
    (void)sqlite3_bind_int64(q, 11, app->launch_ms);
    (void)sqlite3_bind_int(q, 12, app->current ? app->current->id.attempt : 0);
    bind_usage(q, app);
    bind_acl(q, 19, app->view_acl);
    bind_cut(q, 20, app->diagnostics, RM_PAST_DIAGNOSTICS_MAX);
    rm_store_write(s, PUT_PAST);
    s->n_history++;
    s->oldest_ms = SV_MIN(s->oldest_ms, app->finish_ms);
}

/* ---- Limits ---- */

/* Reads the end of the oldest row, INT64_MAX without one. */
static void read_oldest(struct rm_store *s)
{
    sqlite3_stmt *q = s->stmts[OLDEST_PAST];

    s->oldest_ms = sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : INT64_MAX;
    (void)sqlite3_reset(q);
}

void rm_store_history_prune(struct rm *rm, int64_t now_ms)
{
    struct rm_store *s = rm->store;
    int64_t old_ms = now_ms - rm->conf.history_age_ms;
    int64_t surplus = s->n_history - rm->conf.history_apps;

    if (!s->db || s->n_history == 0 || (surplus <= 0 && s->oldest_ms >= old_ms) ||
        !rm_store_begin(s))
        return;
    /* the oldest that are too old, or as many as are too many */
    (void)sqlite3_bind_int64(s->stmts[PRUNE_PAST], 1, surplus > 0 ? INT64_MAX : old_ms);
    (void)sqlite3_bind_int64(s->stmts[PRUNE_PAST], 2,
                             surplus > 0 ? SV_MIN(surplus, (int64_t)RM_PAST_DELETE_TURN)
                                         : RM_PAST_DELETE_TURN);
    rm_store_write(s, PRUNE_PAST);
    if (s->broken)
        return;
    s->n_history -= sqlite3_changes(s->db);
    read_oldest(s);
}

/* ---- Reading ---- */

static const char *text_of(sqlite3_stmt *q, int i)
{
    const char *text = (const char *)sqlite3_column_text(q, i);

    return text ? text : "";
}

static int64_t amount(sqlite3_stmt *q, int i)
{
    return SV_MAX((int64_t)sqlite3_column_int64(q, i), (int64_t)0);
}

static void read_usage(sqlite3_stmt *q, struct rm_past_app *p)
{
    p->used[0] = (struct rm_usage_row){ "memory-mb", amount(q, 12), 0 };
    p->used[1] = (struct rm_usage_row){ "vcores", amount(q, 13), 0 };
    p->n_used = 2;
    for (int i = 14; i < 18; i += 2)
        if (*text_of(q, i))
            p->used[p->n_used++] = (struct rm_usage_row){ text_of(q, i), amount(q, i + 1), 0 };
}

/* False: not a row of ours. */
static bool read_row(sqlite3_stmt *q, struct rm_past_app *p)
{
    *p = (struct rm_past_app){ .id = { sqlite3_column_int64(q, 0), sqlite3_column_int(q, 1) },
                               .finish_ms = sqlite3_column_int64(q, 2),
                               .user = text_of(q, 3),
                               .queue = text_of(q, 4),
                               .name = text_of(q, 5),
                               .type = text_of(q, 6),
                               .state = sqlite3_column_int(q, 7),
                               .final_status = sqlite3_column_int(q, 8),
                               .start_ms = sqlite3_column_int64(q, 9),
                               .launch_ms = sqlite3_column_int64(q, 10),
                               .attempts = sqlite3_column_int(q, 11),
                               .view_acl = (const char *)sqlite3_column_text(q, 18),
                               .diagnostics = text_of(q, 19) };
    read_usage(q, p);
    return p->id.cluster_ts > 0 && p->id.id > 0 && p->final_status >= 0 && p->final_status <= 4 &&
           (p->state == RM_APP_ST_FINISHED || p->state == RM_APP_ST_FAILED ||
            p->state == RM_APP_ST_KILLED);
}

int rm_store_history_walk(struct rm *rm, struct rm_past_key *at, int64_t from_ms, rm_past_fn fn,
                          void *userdata)
{
    struct rm_store *s = rm->store;
    sqlite3_stmt *q = s->stmts[WALK_PAST];
    struct rm_past_app past;
    bool more = true;
    int step, n = 0;

    if (!s->db)
        return 1;
    (void)sqlite3_bind_int64(q, 1, at->finish_ms);
    (void)sqlite3_bind_int64(q, 2, at->id.cluster_ts);
    (void)sqlite3_bind_int(q, 3, at->id.id);
    (void)sqlite3_bind_int64(q, 4, from_ms);
    (void)sqlite3_bind_int(q, 5, RM_PAST_TURN);
    while ((step = sqlite3_step(q)) == SQLITE_ROW && more) {
        bool good = read_row(q, &past);

        *at = (struct rm_past_key){ past.finish_ms, past.id };
        more = !good || fn(&past, userdata);
        n++;
    }
    (void)sqlite3_reset(q);
    if (step != SQLITE_DONE && step != SQLITE_ROW)
        return -EIO;
    return more && step == SQLITE_DONE && n < RM_PAST_TURN;
}

static bool copy(struct sv_arena *a, const char **text)
{
    if (*text)
        *text = sv_arena_strdup(a, *text);
    return *text != NULL;
}

static bool copy_texts(struct sv_arena *a, struct rm_past_app *p)
{
    bool good = copy(a, &p->user) && copy(a, &p->queue) && copy(a, &p->name) && copy(a, &p->type) &&
                copy(a, &p->diagnostics) && (!p->view_acl || copy(a, &p->view_acl));

    for (int i = 0; i < p->n_used && good; i++)
        good = copy(a, &p->used[i].type);
    return good;
}

int rm_store_history_find(struct rm *rm, struct yarn_app_id id, struct sv_arena *a,
                          struct rm_past_app *ret)
{
    struct rm_store *s = rm->store;
    sqlite3_stmt *q = s->stmts[FIND_PAST];
    struct rm_past_app past;
    int step, r = 0;

    if (!s->db)
        return -ENOENT;
    (void)sqlite3_bind_int64(q, 1, id.cluster_ts);
    (void)sqlite3_bind_int(q, 2, id.id);
    step = sqlite3_step(q);
    if (step == SQLITE_DONE || (step == SQLITE_ROW && !read_row(q, &past)))
        r = -ENOENT;
    else if (step != SQLITE_ROW)
        r = -EIO;
    else if (!copy_texts(a, &past))
        r = -ENOMEM;
    (void)sqlite3_reset(q);
    if (r < 0)
        return r;
    *ret = past;
    return 0;
}

/* ---- The start ---- */

static bool has_row(struct rm_store *s, struct yarn_app_id id)
{
    sqlite3_stmt *q = s->stmts[FIND_PAST];
    bool has;

    (void)sqlite3_bind_int64(q, 1, id.cluster_ts);
    (void)sqlite3_bind_int(q, 2, id.id);
    has = sqlite3_step(q) == SQLITE_ROW;
    (void)sqlite3_reset(q);
    return has;
}

int rm_store_load_history(struct rm *rm, struct sv_error *err)
{
    struct rm_store *s = rm->store;
    sqlite3_stmt *q = NULL;
    struct rm_app *app;
    int r;

    if (!s->db)
        return 0;
    if (sqlite3_prepare_v2(s->db, "SELECT count(*) FROM history", -1, &q, NULL) != SQLITE_OK)
        return rm_store_db_error(s, err, "history");
    r = sqlite3_step(q);
    s->n_history = r == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    (void)sqlite3_finalize(q);
    if (r != SQLITE_ROW)
        return rm_store_db_error(s, err, "history");
    read_oldest(s);
    DL_FOREACH (rm->app_list, app)
        if (rm_app_is_final(app) && !has_row(s, app->id))
            rm_store_history_put(rm, app);
    return 0;
}
