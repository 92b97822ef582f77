/* See state-store-open.h. */
#include "nodemanager/store/state-store-open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodemanager/store/state-store-schema.h"

#define APPLICATION_ID 0x53564e4d /* "SVNM" */

/* The single integer or text that a PRAGMA returns. */
static int pragma_int(sqlite3 *db, const char *sql, int64_t *ret)
{
    sqlite3_stmt *st = NULL;
    int r = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

    if (r == SQLITE_OK)
        r = sqlite3_step(st);
    if (r == SQLITE_ROW)
        *ret = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return r == SQLITE_ROW ? 0 : -EBADMSG;
}

static bool integrity_ok(sqlite3 *db)
{
    sqlite3_stmt *st = NULL;
    bool ok = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &st, NULL) == SQLITE_OK &&
              sqlite3_step(st) == SQLITE_ROW &&
              !strcmp((const char *)sqlite3_column_text(st, 0) ?: "", "ok");

    sqlite3_finalize(st);
    return ok;
}

static int check_file(const char *path, struct sv_error *err)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : sv_error_errno(err, -errno, "state store %s", path);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
        return sv_error_set(err, -EPERM,
                            "state store %s: must be a regular file of this account "
                            "that only this account may write",
                            path);
    return 0;
}

/* Applies the steps in one transaction, so that a store never has tables of two schemas. */
static int apply(sqlite3 *db, const char *path, const char *const *steps, int64_t n,
                 struct sv_error *err)
{
    char meta[128];
    bool ok = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;

    snprintf(meta, sizeof(meta), "PRAGMA application_id=%d; PRAGMA user_version=%d;",
             APPLICATION_ID, NM_STORE_SCHEMA);
    for (int64_t i = 0; ok && i < n; i++)
        ok = sqlite3_exec(db, steps[i], NULL, NULL, NULL) == SQLITE_OK;
    if (!ok || sqlite3_exec(db, meta, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        return sv_error_set(err, -EIO, "state store %s: %s", path, sqlite3_errmsg(db));
    return 0;
}

static int unreadable(sqlite3 *db, const char *path, struct sv_error *err)
{
    int code = sqlite3_errcode(db);

    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return sv_error_set(err, -EBUSY, "state store %s: another NodeManager uses it", path);
    return sv_error_set(err, -EBADMSG,
                        "state store %s: damaged (%s); move it away to start "
                        "without the containers that it records",
                        path, sqlite3_errmsg(db));
}

/* 1: the store is new. */
static int check_schema(sqlite3 *db, const char *path, struct sv_error *err)
{
    int64_t version = -1, app = -1, tables = -1;
    int r;

    if (pragma_int(db, "PRAGMA user_version", &version) < 0 ||
        pragma_int(db, "PRAGMA application_id", &app) < 0 ||
        pragma_int(db, "SELECT count(*) FROM sqlite_master", &tables) < 0 || !integrity_ok(db))
        return unreadable(db, path, err);
    if (tables == 0 && version == 0)
        return (r = apply(db, path, &nm_store_schema, 1, err)) < 0 ? r : 1;
    if (app != APPLICATION_ID)
        return sv_error_set(err, -EBADMSG, "state store %s: not a NodeManager's store", path);
    if (version >= 1 && version < NM_STORE_SCHEMA)
        return apply(db, path, nm_store_upgrades + version - 1, NM_STORE_SCHEMA - version, err);
    if (version != NM_STORE_SCHEMA)
        return sv_error_set(err, -EPROTO,
                            "state store %s: schema %lld, this program knows %d; "
                            "start the version that wrote it, or move it away",
                            path, (long long)version, NM_STORE_SCHEMA);
    return 0;
}

static int open_db(const char *path, sqlite3 **ret, struct sv_error *err)
{
    mode_t old = umask(0077);
    int r = sqlite3_open_v2(path ? path : ":memory:", ret,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                                SQLITE_OPEN_NOFOLLOW,
                            NULL);

    umask(old);
    if (r != SQLITE_OK)
        return sv_error_set(err, -EIO, "state store %s: %s", path ? path : "in memory",
                            *ret ? sqlite3_errmsg(*ret) : "out of memory");
    sqlite3_db_config(*ret, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*ret, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*ret, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    /* EXCLUSIVE keeps a second daemon out and the WAL index in memory. synchronous=NORMAL: a
     * commit survives the daemon; fsync happens at checkpoints (ADR 16). */
    (void)sqlite3_exec(*ret,
                       "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
                       "PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;"
                       "PRAGMA cache_size=-512; PRAGMA wal_autocheckpoint=1000;",
                       NULL, NULL, NULL);
    return 0;
}

/* Not part of a schema number: an older daemon starts with such a store and ignores the table. */
static int add_settings(sqlite3 *db, const char *path, struct sv_error *err)
{
    return sqlite3_exec(db,
                        "CREATE TABLE IF NOT EXISTS settings(name TEXT PRIMARY KEY NOT NULL,"
                        " value TEXT NOT NULL)",
                        NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : sv_error_set(err, -EIO, "state store %s: %s", path, sqlite3_errmsg(db));
}

/* The mark outlives starts that end before the directories of the last run have been cleared. */
static int mark_new(sqlite3 *db, bool is_new, const char *path, struct sv_error *err)
{
    int64_t marked = 0;

    if ((is_new &&
         sqlite3_exec(db, "INSERT INTO settings(name,value) VALUES('" NM_STORE_NEW "','')", NULL,
                      NULL, NULL) != SQLITE_OK) ||
        pragma_int(db, "SELECT count(*) FROM settings WHERE name='" NM_STORE_NEW "'", &marked) < 0)
        return sv_error_set(err, -EIO, "state store %s: %s", path, sqlite3_errmsg(db));
    return marked > 0;
}

int nm_store_db_open(const char *path, sqlite3 **ret, struct sv_error *err)
{
    sqlite3 *db = NULL;
    int r = path ? check_file(path, err) : 0, is_new = 0;

    if (r >= 0)
        r = open_db(path, &db, err);
    if (r >= 0)
        r = is_new = check_schema(db, path ? path : "in memory", err);
    if (r >= 0)
        r = add_settings(db, path ? path : "in memory", err);
    if (r >= 0)
        r = is_new = mark_new(db, is_new > 0, path ? path : "in memory", err);
    if (r < 0) {
        sqlite3_close(db);
        return r;
    }
    *ret = db;
    return is_new;
}
