/* Nodes in the state store: those that are decommissioning, and the number of active ones. See
 * store.h. */
#include "common/oom.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/store/store-internal.h"

#define NODES "active-nodes" /* in meta */

void rm_store_drain(struct rm *rm, const char *node, int64_t deadline_ms)
{
    struct rm_store *s = rm->store;

    if (!rm_store_begin(s))
        return;
    (void)sqlite3_bind_text(s->stmts[PUT_DRAIN], 1, node, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s->stmts[PUT_DRAIN], 2, deadline_ms);
    rm_store_write(s, PUT_DRAIN);
}

void rm_store_drained(struct rm *rm, const char *node)
{
    struct rm_store *s = rm->store;

    if (!rm_store_begin(s))
        return;
    (void)sqlite3_bind_text(s->stmts[DEL_DRAIN], 1, node, -1, SQLITE_STATIC);
    rm_store_write(s, DEL_DRAIN);
}

int rm_store_load_draining(struct rm *rm, struct sv_error *err)
{
    struct rm_store *s = rm->store;
    sqlite3_stmt *q = NULL;
    int r;

    if (!s->db)
        return 0;
    if (sqlite3_prepare_v2(s->db, "SELECT node, deadline FROM draining", -1, &q, NULL) != SQLITE_OK)
        return rm_store_db_error(s, err, "draining");
    while ((r = sqlite3_step(q)) == SQLITE_ROW)
        if (sqlite3_column_text(q, 0))
            rm_set_add(&rm->draining, (const char *)sqlite3_column_text(q, 0))->number =
                sqlite3_column_int64(q, 1);
    (void)sqlite3_finalize(q);
    return r == SQLITE_DONE ? 0 : rm_store_db_error(s, err, "draining");
}

void rm_store_node_count(struct rm *rm)
{
    struct rm_store *s = rm->store;
    int32_t n = rm_active_nodes(rm);

    if (rm->hold_until_ms || n == rm->stored_nodes || !rm_store_begin(s))
        return;
    rm->stored_nodes = n;
    (void)sqlite3_bind_text(s->stmts[PUT_META], 1, NODES, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s->stmts[PUT_META], 2, rm->stored_nodes);
    rm_store_write(s, PUT_META);
}

int rm_store_load_node_count(struct rm *rm, struct sv_error *err)
{
    int64_t n = 0;
    int r = rm->store->db ? rm_store_load_meta(rm->store, NODES, 0, &n, err) : 0;

    rm->stored_nodes = n > 0 && n <= INT32_MAX ? (int32_t)n : 0;
    return r;
}
