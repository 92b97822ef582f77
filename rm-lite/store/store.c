/* The state store on SQLite. See store.h. The directory is private (0700); rows are still validated
 * when read, because a disk may be corrupt. */
#include "rm-lite/store/store.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "common/fd.h"
#include "common/loop-guard.h"
#include "common/oom.h"
#include "common/str.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/core/text.h"
#include "rm-lite/store/store-internal.h"
#include "wire/ipc/ipc-server.h"

#define SCHEMA_VERSION 1
#define CLEAN "clean" /* in meta: 1 while no process has the store open */

/* An action after the commit: an event, or the answer to a call. */
struct rm_store_answer {
    struct sv_event event;
    struct ipc_call *call; /* NULL: the event */
    const ProtobufCMessage *response;
    struct sv_arena *arena; /* memory of the response */
    struct rm_store_answer *next;
};

/* -EUCLEAN: the next start would fail alike. */
static int damaged(struct sv_error *err, const char *what, const char *why)
{
    return sv_error_set(err, -EUCLEAN,
                        "state store: %s: damaged (%s); put a copy back, or move "
                        "selvedge.rm.state-dir away to start without applications",
                        what, why);
}

int rm_store_db_error(struct rm_store *s, struct sv_error *err, const char *what)
{
    int code = sqlite3_errcode(s->db);

    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return damaged(err, what, sqlite3_errmsg(s->db));
    return sv_error_set(err, -EIO, "state store: %s: %s; check the disk and selvedge.rm.state-dir",
                        what, sqlite3_errmsg(s->db));
}

int rm_store_load_meta(struct rm_store *s, const char *key, int64_t def, int64_t *ret,
                       struct sv_error *err)
{
    sqlite3_stmt *q = NULL;
    int r;

    if (sqlite3_prepare_v2(s->db, "SELECT value FROM meta WHERE key=?", -1, &q, NULL) != SQLITE_OK)
        return rm_store_db_error(s, err, "meta");
    (void)sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
    r = sqlite3_step(q);
    *ret = r == SQLITE_ROW ? sqlite3_column_int64(q, 0) : def;
    (void)sqlite3_finalize(q);
    return r == SQLITE_ROW || r == SQLITE_DONE ? 0 : rm_store_db_error(s, err, "meta");
}

/* A damaged file must not lose applications silently. After a clean shutdown SQLite itself refuses
 * a truncated file, and rm_store_load invalid rows: the check would add seconds to the start with a
 * large store that is not in the page cache. */
static int check(struct rm_store *s, const char *path, struct sv_error *err)
{
    int64_t clean, since = sv_now_ms();
    sqlite3_stmt *q = NULL;
    const char *found;
    int r = rm_store_load_meta(s, CLEAN, 0, &clean, err);

    if (r < 0 || clean)
        return r;
    if (sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &q, NULL) != SQLITE_OK)
        return rm_store_db_error(s, err, path);
    if (sqlite3_step(q) != SQLITE_ROW)
        r = rm_store_db_error(s, err, path);
    else if (!sv_streq(found = (const char *)sqlite3_column_text(q, 0), "ok"))
        r = damaged(err, path, found ? found : "no memory");
    (void)sqlite3_finalize(q);
    sv_log_info("state store: checked in %lld ms, as it is new or was not closed",
                (long long)(sv_now_ms() - since));
    return r;
}

static int run(struct rm_store *s, enum rm_store_stmt i, struct sv_error *err)
{
    int r = sqlite3_step(s->stmts[i]);

    (void)sqlite3_reset(s->stmts[i]);
    (void)sqlite3_clear_bindings(s->stmts[i]);
    return r == SQLITE_DONE ? 0 : rm_store_db_error(s, err, rm_store_sql[i]);
}

static int put_meta(struct rm_store *s, const char *key, int64_t value, struct sv_error *err)
{
    (void)sqlite3_bind_text(s->stmts[PUT_META], 1, key, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s->stmts[PUT_META], 2, value);
    return run(s, PUT_META, err);
}

static int on_flush(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rm *rm = userdata;

    (void)source;
    rm_store_flush(rm);
    return 0;
}

int rm_store_open(struct rm *rm, const char *dir, struct sv_error *err)
{
    struct rm_store *s = calloc(1, sizeof(*s));
    _cleanup_free_ char *path = NULL;
    int r;

    if (!s)
        return -ENOMEM;
    s->rm = rm;
    rm->store = s;
    r = sd_event_add_defer(rm->event, &s->flush, on_flush, rm);
    if (r < 0)
        return sv_error_errno(err, r, "state store: event source");
    /* After the sockets: one iteration of the event loop shares one transaction. */
    (void)sd_event_source_set_priority(s->flush, SD_EVENT_PRIORITY_NORMAL + 10);
    (void)sd_event_source_set_enabled(s->flush, SD_EVENT_OFF);
    if (!dir)
        return 0;
    r = sv_mkdir_p(dir, 0700);
    if (r < 0)
        return sv_error_errno(err, r, "state store: directory %s (selvedge.rm.state-dir)", dir);
    if (sv_asprintf(&path, "%s/rm.sqlite", dir) < 0)
        return -ENOMEM;
    if (sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
        SQLITE_OK)
        return rm_store_db_error(s, err, path);
    (void)chmod(path, 0600); /* an existing file is 0600 already, ignoring */
    (void)sqlite3_busy_timeout(s->db, 2000);
    if (sqlite3_exec(s->db,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                     "PRAGMA locking_mode=EXCLUSIVE;",
                     NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(s->db, rm_store_schema, NULL, NULL, NULL) != SQLITE_OK)
        return rm_store_db_error(s, err, path);
    r = check(s, path, err);
    if (r < 0)
        return r;
    for (int i = 0; i < N_STMTS; i++)
        if (sqlite3_prepare_v3(s->db, rm_store_sql[i], -1, SQLITE_PREPARE_PERSISTENT, &s->stmts[i],
                               NULL) != SQLITE_OK)
            return rm_store_db_error(s, err, rm_store_sql[i]);
    return 0;
}

static void answer_free(struct rm_store_answer *a)
{
    sv_arena_free(a->arena);
    free(a);
}

struct rm_store *rm_store_close(struct rm_store *s)
{
    if (!s)
        return NULL;
    if (s->open && !s->broken)
        (void)run(s, COMMIT, NULL); /* stopping anyway, ignoring */
    if (s->started && !s->broken)
        (void)put_meta(s, CLEAN, 1, NULL); /* if it fails the next start checks, ignoring */
    for (int i = 0; i < N_STMTS; i++)
        sqlite3_finalize(s->stmts[i]);
    (void)sqlite3_close(s->db);
    while (s->answers) {
        struct rm_store_answer *a = s->answers;

        s->answers = a->next;
        if (a->call)
            ipc_call_fail(a->call, JAVA_IO_EXCEPTION, "the ResourceManager is stopping");
        answer_free(a);
    }
    sd_event_source_disable_unref(s->flush);
    free(s);
    return NULL;
}

/* -------------------------------------------------------------------- start */

/* The monotonic time of a key's creation. Only the wall clock runs while the machine is off; a key
 * dated in the future counts as new. */
static int64_t made_since(int64_t made_wall_ms)
{
    return sv_now_ms() - SV_MAX(sv_wall_ms() - made_wall_ms, (int64_t)0);
}

static int load_keys(struct rm_store *s, struct rm_secrets *secrets, struct sv_error *err)
{
    sqlite3_stmt *q = NULL;
    int r;

    if (sqlite3_prepare_v2(s->db, "SELECT kind, slot, key_id, bytes, made FROM keys", -1, &q,
                           NULL) != SQLITE_OK)
        return rm_store_db_error(s, err, "keys");
    while ((r = sqlite3_step(q)) == SQLITE_ROW) {
        int kind = sqlite3_column_int(q, 0), n = sqlite3_column_bytes(q, 3);
        struct yarn_master_key *k;

        if (kind < RM_SECRET_CONTAINER || kind >= RM_SECRETS || n < 0 || n > YARN_MASTER_KEY_MAX)
            continue;
        k = sqlite3_column_int(q, 1) ? &secrets->keys[kind].next : &secrets->keys[kind].current;
        k->key_id = sqlite3_column_int(q, 2);
        k->len = (size_t)n;
        if (n)
            memcpy(k->bytes, sqlite3_column_blob(q, 3), (size_t)n);
        secrets->keys[kind].made_ms = made_since(sqlite3_column_int64(q, 4));
    }
    (void)sqlite3_finalize(q);
    return r == SQLITE_DONE ? 0 : rm_store_db_error(s, err, "keys");
}

static int64_t next_epoch(int64_t stored, int64_t first, int64_t range)
{
    if (stored < 0)
        return first;
    if (range <= 0)
        return stored + 1;
    return stored < first ? first : first + (stored - first + 1) % range;
}

int rm_store_start(struct rm_store *s, int64_t first, int64_t range, int64_t *ret_epoch,
                   struct rm_secrets *secrets, struct sv_error *err)
{
    int64_t version, epoch;
    int r;

    *ret_epoch = first;
    if (!s->db)
        return 0;
    if ((r = rm_store_load_meta(s, "version", SCHEMA_VERSION, &version, err)) < 0 ||
        (r = rm_store_load_meta(s, "epoch", -1, &epoch, err)) < 0)
        return r;
    if (version != SCHEMA_VERSION)
        return sv_error_set(err, -EPROTO,
                            "state store: version %lld, this program knows %d; move the directory "
                            "of selvedge.rm.state-dir away to start empty",
                            (long long)version, SCHEMA_VERSION);
    epoch = next_epoch(epoch, first, range);
    if ((r = put_meta(s, "version", SCHEMA_VERSION, err)) < 0 ||
        (r = put_meta(s, "epoch", epoch, err)) < 0 || (r = put_meta(s, CLEAN, 0, err)) < 0 ||
        (r = load_keys(s, secrets, err)) < 0)
        return r;
    s->started = true;
    *ret_epoch = epoch;
    return 0;
}

int rm_store_keys(struct rm_store *s, const struct rm_secrets *secrets, struct sv_error *err)
{
    int r = 0;

    if (!s->db)
        return 0;
    for (int k = RM_SECRET_CONTAINER; k < RM_SECRETS; k++)
        for (int slot = 0; slot < 2 && r >= 0; slot++) {
            const struct yarn_master_key *key =
                slot ? &secrets->keys[k].next : &secrets->keys[k].current;
            sqlite3_stmt *q = s->stmts[PUT_KEY];

            (void)sqlite3_bind_int(q, 1, k);
            (void)sqlite3_bind_int(q, 2, slot);
            (void)sqlite3_bind_int(q, 3, key->key_id);
            (void)sqlite3_bind_blob(q, 4, key->bytes, (int)key->len, SQLITE_STATIC);
            (void)sqlite3_bind_int64(q, 5, sv_wall_ms() - (sv_now_ms() - secrets->keys[k].made_ms));
            r = run(s, PUT_KEY, err);
        }
    return r;
}

/* ------------------------------------------------------------------- writes */

static struct rm_store_answer *answer_later(struct rm_store *s)
{
    struct rm_store_answer *a = calloc(1, sizeof(*a));

    if (!a)
        sv_out_of_memory();
    if (s->answers)
        s->tail->next = a;
    else
        s->answers = a;
    s->tail = a;
    (void)sd_event_source_set_enabled(s->flush, SD_EVENT_ONESHOT);
    return a;
}

static void post_later(struct rm_store *s, enum rm_machine machine, void *object, int event)
{
    answer_later(s)->event =
        (struct sv_event){ .machine = machine, .type = event, .object = object };
}

void rm_store_reply(struct rm *rm, struct ipc_call *call, const ProtobufCMessage *response,
                    struct sv_arena *arena)
{
    struct rm_store_answer *a = answer_later(rm->store);

    a->call = call;
    a->response = response;
    a->arena = arena;
}

/* Without its store the ResourceManager must not acknowledge anything: it stops, as Hadoop's. */
static void failed(struct rm_store *s, const struct sv_error *err)
{
    if (s->broken)
        return;
    s->broken = true;
    sv_log_err("%s; stopping the ResourceManager", err->text);
    (void)sd_event_exit(s->rm->event, -EIO);
}

bool rm_store_begin(struct rm_store *s)
{
    struct sv_error err = { 0 };

    if (!s->db || s->broken)
        return false;
    if (s->open)
        return true;
    if (run(s, BEGIN, &err) < 0) {
        failed(s, &err);
        return false;
    }
    s->open = true;
    (void)sd_event_source_set_enabled(s->flush, SD_EVENT_ONESHOT);
    return true;
}

void rm_store_write(struct rm_store *s, enum rm_store_stmt i)
{
    struct sv_error err = { 0 };

    if (run(s, i, &err) < 0)
        failed(s, &err);
}

void rm_store_flush(struct rm *rm)
{
    SV_DISPATCH_BATCH(rm->dispatcher); /* no handler may add to the list while it is posted */
    struct rm_store *s = rm->store;
    struct rm_store_answer *list = s->answers, *next;
    struct sv_error err = { 0 };

    if (s->open && !s->broken && run(s, COMMIT, &err) < 0)
        failed(s, &err);
    s->open = false;
    if (s->broken)
        return;
    s->answers = s->tail = NULL; /* an answer may let the next call of its connection write */
    for (; list; list = next) {
        next = list->next;
        if (list->call)
            ipc_call_reply(list->call, list->response);
        else
            sv_dispatcher_post(rm->dispatcher, &list->event);
        answer_free(list);
    }
}

static void put_app(struct rm_store *s, const struct rm_app *app, int state)
{
    sqlite3_stmt *q = s->stmts[PUT_APP];
    struct rm_seconds use = rm_app_use(app);

    if (!rm_store_begin(s))
        return;
    (void)sqlite3_bind_int64(q, 1, app->id.cluster_ts);
    (void)sqlite3_bind_int(q, 2, app->id.id);
    (void)sqlite3_bind_text(q, 3, app->user, -1, SQLITE_STATIC);
    (void)sqlite3_bind_blob(q, 4, app->submission, (int)app->submission_len, SQLITE_STATIC);
    (void)sqlite3_bind_int64(q, 5, app->submit_ms);
    (void)sqlite3_bind_int64(q, 6, app->start_ms);
    (void)sqlite3_bind_int64(q, 7, app->launch_ms);
    (void)sqlite3_bind_int64(q, 8, app->finish_ms);
    (void)sqlite3_bind_int(q, 9, state);
    (void)sqlite3_bind_int(q, 10, app->final_status);
    (void)sqlite3_bind_text(q, 11, app->diagnostics, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(q, 12,
                            app->current && app->current->tracking_url ? app->current->tracking_url
                                                                       : app->tracking_url,
                            -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(q, 13, use.memory_ms);
    (void)sqlite3_bind_int64(q, 14, use.vcore_ms);
    (void)sqlite3_bind_int(q, 15, app->priority);
    rm_store_write(s, PUT_APP);
}

static void put_attempt(struct rm_store *s, const struct rm_attempt *att, int state)
{
    sqlite3_stmt *q = s->stmts[PUT_ATTEMPT];
    char node[300];

    if (!rm_store_begin(s))
        return;
    yarn_node_id_text(&att->master_node, node);
    (void)sqlite3_bind_int64(q, 1, att->id.app.cluster_ts);
    (void)sqlite3_bind_int(q, 2, att->id.app.id);
    (void)sqlite3_bind_int(q, 3, att->id.attempt);
    (void)sqlite3_bind_int64(q, 4, att->has_master ? att->master_id.id : -1);
    (void)sqlite3_bind_text(q, 5, att->has_master ? node : "", -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(q, 6, att->master_http, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int(q, 7, state);
    (void)sqlite3_bind_int(q, 8, att->final_status);
    (void)sqlite3_bind_int(q, 9, att->exit_status);
    (void)sqlite3_bind_text(q, 10, att->diagnostics, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(q, 11, att->tracking_url, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(q, 12, att->host, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int(q, 13, att->rpc_port);
    (void)sqlite3_bind_int64(q, 14, att->start_ms);
    (void)sqlite3_bind_int64(q, 15, att->finish_ms);
    (void)sqlite3_bind_int(q, 16, att->failure_counts);
    (void)sqlite3_bind_int(q, 17, att->amrm_key);
    rm_store_write(s, PUT_ATTEMPT);
}

void rm_store_app_new(struct rm *rm, struct rm_app *app)
{
    put_app(rm->store, app, 0);
    post_later(rm->store, RM_M_APP, app, RM_APP_EV_NEW_SAVED);
}

/* FINISHING is stored as FINISHED: the end of the application matters, not its master's exit. */
void rm_store_app_final(struct rm *rm, struct rm_app *app)
{
    put_app(rm->store, app, app->target == RM_APP_ST_FINISHING ? RM_APP_ST_FINISHED : app->target);
    post_later(rm->store, RM_M_APP, app, RM_APP_EV_UPDATE_SAVED);
}

void rm_store_app_update(struct rm *rm, struct rm_app *app)
{
    if (!rm_app_is_final(app) && app->state != RM_APP_ST_FINAL_SAVING)
        put_app(rm->store, app, 0);
}

void rm_store_attempt_new(struct rm *rm, struct rm_attempt *att)
{
    put_attempt(rm->store, att, 0);
    post_later(rm->store, RM_M_ATTEMPT, att, RM_ATT_EV_NEW_SAVED);
}

void rm_store_attempt_final(struct rm *rm, struct rm_attempt *att)
{
    put_attempt(rm->store, att,
                att->target == RM_ATT_ST_FINISHING ? RM_ATT_ST_FINISHED : att->target);
    post_later(rm->store, RM_M_ATTEMPT, att, RM_ATT_EV_UPDATE_SAVED);
}

void rm_store_app_remove(struct rm *rm, struct rm_app *app)
{
    static const enum rm_store_stmt all[] = { DEL_APP, DEL_ATTEMPTS, DEL_USAGE };
    struct rm_store *s = rm->store;

    for (size_t i = 0; i < SV_ARRAY_LEN(all) && rm_store_begin(s); i++) {
        (void)sqlite3_bind_int64(s->stmts[all[i]], 1, app->id.cluster_ts);
        (void)sqlite3_bind_int(s->stmts[all[i]], 2, app->id.id);
        rm_store_write(s, all[i]);
    }
}

/* ------------------------------------------------------------------ loading */

static void column_text(sqlite3_stmt *q, int i, char **dst)
{
    rm_set_text(dst, (const char *)sqlite3_column_text(q, i));
}

static int load_app(struct rm *rm, sqlite3_stmt *q, struct sv_error *err)
{
    struct yarn_app_id id = { sqlite3_column_int64(q, 0), sqlite3_column_int(q, 1) };
    int state = sqlite3_column_int(q, 8);
    const char *user = (const char *)sqlite3_column_text(q, 2);
    struct rm_app *app;
    int n;

    app = rm_app_new(rm, id, user ? user : "", sqlite3_column_blob(q, 3),
                     (size_t)sqlite3_column_bytes(q, 3), err);
    if (!app)
        return err->code ? err->code : -EBADMSG;
    app->recovered = true;
    app->submit_ms = sqlite3_column_int64(q, 4);
    app->start_ms = sqlite3_column_int64(q, 5);
    app->launch_ms = sqlite3_column_int64(q, 6);
    app->finish_ms = sqlite3_column_int64(q, 7);
    app->final_status = sqlite3_column_int(q, 9);
    column_text(q, 10, &app->diagnostics);
    column_text(q, 11, &app->tracking_url);
    app->seconds.memory_ms = sqlite3_column_int64(q, 12);
    app->seconds.vcore_ms = sqlite3_column_int64(q, 13);
    n = sqlite3_column_int(q, 14);
    app->priority = n;
    if (state == RM_APP_ST_FINISHED || state == RM_APP_ST_FAILED || state == RM_APP_ST_KILLED) {
        app->state = state;
        rm_app_recount(app);
        rm->n_completed++;
        rm_submission_shrink(app); /* an earlier version stored all of it */
    }
    return 0;
}

static void load_attempt(struct rm *rm, sqlite3_stmt *q)
{
    struct yarn_app_id id = { sqlite3_column_int64(q, 0), sqlite3_column_int(q, 1) };
    struct rm_app *app = rm_app_find(rm, id);
    int64_t container = sqlite3_column_int64(q, 3);
    const char *node = (const char *)sqlite3_column_text(q, 4);
    int state = sqlite3_column_int(q, 6);
    struct rm_attempt *att;

    if (!app)
        return;
    att = rm_attempt_new(app, sqlite3_column_int(q, 2));
    if (container >= 0 && node && yarn_node_id_parse(node, &att->master_node) >= 0) {
        att->has_master = true;
        att->master_id = (struct yarn_container_id){ att->id, container };
    }
    column_text(q, 5, &att->master_http);
    if (state == RM_ATT_ST_FINISHED || state == RM_ATT_ST_FAILED || state == RM_ATT_ST_KILLED)
        att->state = state;
    att->final_status = sqlite3_column_int(q, 7);
    att->exit_status = sqlite3_column_int(q, 8);
    column_text(q, 9, &att->diagnostics);
    column_text(q, 10, &att->tracking_url);
    column_text(q, 11, &att->host);
    att->rpc_port = sqlite3_column_int(q, 12);
    att->start_ms = sqlite3_column_int64(q, 13);
    att->finish_ms = sqlite3_column_int64(q, 14);
    att->failure_counts = sqlite3_column_int(q, 15) != 0;
    att->amrm_key = sqlite3_column_int(q, 16);
    att->master_done = rm_attempt_is_final(att);
}

int rm_store_load(struct rm *rm, struct sv_error *err)
{
    struct rm_store *s = rm->store;
    sqlite3_stmt *q = NULL;
    int r = 0, step;

    if (!s->db)
        return 0;
    /* As they were submitted, which their ids do not say where another cluster gave them. */
    if (sqlite3_prepare_v2(s->db, "SELECT * FROM apps ORDER BY submit, ts, id", -1, &q, NULL) !=
        SQLITE_OK)
        return rm_store_db_error(s, err, "apps");
    while ((step = sqlite3_step(q)) == SQLITE_ROW) {
        r = load_app(rm, q, err);
        if (r == -ENOMEM)
            break; /* the start fails: skipping it would forget it */
        if (r < 0)
            sv_log_warning("state store: skipping an application: %s", err->text);
    }
    (void)sqlite3_finalize(q);
    if (r == -ENOMEM)
        return r;
    if (step != SQLITE_DONE)
        return rm_store_db_error(s, err, "apps");
    if (sqlite3_prepare_v2(s->db, "SELECT * FROM attempts ORDER BY ts, id, attempt", -1, &q,
                           NULL) != SQLITE_OK)
        return rm_store_db_error(s, err, "attempts");
    while ((step = sqlite3_step(q)) == SQLITE_ROW)
        load_attempt(rm, q);
    (void)sqlite3_finalize(q);
    return step == SQLITE_DONE ? 0 : rm_store_db_error(s, err, "attempts");
}
