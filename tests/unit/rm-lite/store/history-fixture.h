/* Rows of the table history, written while no ResourceManager has the store open. */
#ifndef SELVEDGE_TESTS_UNIT_RM_LITE_STORE_HISTORY_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_RM_LITE_STORE_HISTORY_FIXTURE_H

#include <sqlite3.h>

#include "common/str.h"
#include "rm-lite/store/store-history.h"
#include "tests/unit/rm-lite/rm-fixture.h"

#define TS 1700000000000LL /* of the applications of fill() */
#define ROW_MS 1000        /* between their ends */

static inline void sql(const struct fix *f, const char *text)
{
    _cleanup_free_ char *path = NULL;
    sqlite3 *db = NULL;

    assert_null(f->rm);
    assert_int_equal(sv_asprintf(&path, "%s/rm.sqlite", f->dir), 0);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(db));
    (void)sqlite3_close(db);
}

/* Rows of applications 1 to n, which ended ROW_MS after each other, the last one just now; their
 * users are user0 to user9, their queues root.q0 to root.q2, each used 3600 MB·s and 36 vcore·s. */
static inline void fill(struct fix *f, int n)
{
    _cleanup_free_ char *text = NULL;

    stop(f);
    assert_int_equal(
        sv_asprintf(&text,
                    "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<%d)"
                    " INSERT INTO history SELECT %lld, i, %lld+i*%d, 'user'||(i%%10),"
                    " 'root.q'||(i%%3), 'name '||i, 'SPARK', 8+(i%%2), 1+(i%%2), 1600000000000,"
                    " 1600000000001, 1, 3600000, 36000, '', 0, '', 0, NULL, 'why '||i FROM c",
                    n, TS, (long long)(sv_wall_ms() - (int64_t)n * ROW_MS), ROW_MS),
        0);
    sql(f, text);
    start(f);
}

#endif
