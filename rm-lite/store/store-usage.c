/* Resources lost to preemption and usage of the cluster's own resource types, by application, in
 * the state store. See store.h. Rows are validated when read, because a disk may be corrupt. */
#include "rm-lite/core/app-usage.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/store/store-internal.h"

void rm_store_usage(struct rm *rm, const struct rm_app *app)
{
    struct rm_store *s = rm->store;
    struct rm_usage_row rows[RM_USAGE_ROWS];
    int n = rm_app_usage_rows(app, rows);

    for (int i = 0; i < n; i++) {
        sqlite3_stmt *q = s->stmts[PUT_USAGE];
        bool has_column = i < 2; /* usage of memory and virtual cores */

        if (rows[i].preempted_ms == 0 && (has_column || rows[i].used_ms == 0))
            continue;
        if (!rm_store_begin(s)) /* opens the transaction once */
            return;
        (void)sqlite3_bind_int64(q, 1, app->id.cluster_ts);
        (void)sqlite3_bind_int(q, 2, app->id.id);
        (void)sqlite3_bind_text(q, 3, rows[i].type, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(q, 4, rows[i].used_ms);
        (void)sqlite3_bind_int64(q, 5, rows[i].preempted_ms);
        rm_store_write(s, PUT_USAGE);
    }
}

int rm_store_load_usage(struct rm *rm, struct sv_error *err)
{
    struct rm_store *s = rm->store;
    sqlite3_stmt *q = NULL;
    int r;

    if (!s->db)
        return 0;
    if (sqlite3_prepare_v2(s->db, "SELECT ts, id, type, used, preempted FROM app_usage", -1, &q,
                           NULL) != SQLITE_OK)
        return rm_store_db_error(s, err, "app_usage");
    while ((r = sqlite3_step(q)) == SQLITE_ROW) {
        struct yarn_app_id id = { sqlite3_column_int64(q, 0), sqlite3_column_int(q, 1) };
        struct rm_usage_row row = { (const char *)sqlite3_column_text(q, 2),
                                    sqlite3_column_int64(q, 3), sqlite3_column_int64(q, 4) };
        struct rm_app *app = rm_app_find(rm, id);

        if (app && row.type && row.used_ms >= 0 && row.preempted_ms >= 0)
            rm_app_usage_restore(app, &row);
    }
    (void)sqlite3_finalize(q);
    return r == SQLITE_DONE ? 0 : rm_store_db_error(s, err, "app_usage");
}
