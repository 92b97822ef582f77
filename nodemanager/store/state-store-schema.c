/* The tables of the state store, and the upgrades from older schemas; see state-store.c.
 */
#include "nodemanager/store/state-store-schema.h"

/* clang-format off */
#define MCS_TABLE \
    "CREATE TABLE mcs(name TEXT NOT NULL, owner TEXT NOT NULL, pair INTEGER NOT NULL);" \
    "CREATE UNIQUE INDEX mcs_names ON mcs(owner='',name);" \
    "CREATE UNIQUE INDEX mcs_pairs ON mcs(owner='',pair);"
#define SERVICE_DATA_TABLE \
    "CREATE TABLE service_data(app TEXT NOT NULL, service TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY(app,service));"
#define LOG_TABLES \
    "CREATE TABLE log_uploads(app TEXT PRIMARY KEY NOT NULL, account TEXT NOT NULL, pending INTEGER NOT NULL, value BLOB NOT NULL);" \
    "CREATE TABLE log_skips(app TEXT NOT NULL, container TEXT NOT NULL);" \
    "CREATE INDEX log_skips_apps ON log_skips(app);"
#define AMRMPROXY_TABLE \
    "CREATE TABLE amrmproxy(attempt TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(attempt,name));"
#define RETRY_COLUMN "retry TEXT NOT NULL DEFAULT ''"
#define ENDED_COLUMN "ended_ms INTEGER NOT NULL DEFAULT -1"
#define LATE_COLUMN "late INTEGER NOT NULL DEFAULT 0"
#define REINIT_COLUMN "reinit INTEGER NOT NULL DEFAULT 0"
#define ADD_COLUMN "ALTER TABLE containers ADD COLUMN "
const char *const nm_store_schema =
    "CREATE TABLE apps(id TEXT PRIMARY KEY NOT NULL, user TEXT NOT NULL, view_acl TEXT NOT NULL, modify_acl TEXT NOT NULL,"
    " finished INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE containers(id TEXT PRIMARY KEY NOT NULL, app TEXT NOT NULL, request BLOB NOT NULL,"
    " start_ms INTEGER NOT NULL, launch_ms INTEGER NOT NULL DEFAULT 0,"
    " finish_ms INTEGER NOT NULL DEFAULT 0, launched INTEGER NOT NULL DEFAULT 0,"
    " killed INTEGER NOT NULL DEFAULT 0, completed INTEGER NOT NULL DEFAULT 0,"
    " done INTEGER NOT NULL DEFAULT 0, local_dir INTEGER NOT NULL DEFAULT -1,"
    " log_dir INTEGER NOT NULL DEFAULT -1, exit_code INTEGER NOT NULL DEFAULT -1000,"
    " kill_code INTEGER NOT NULL DEFAULT -1000, diagnostics TEXT NOT NULL DEFAULT '',"
    " assigned TEXT NOT NULL DEFAULT '', updated BLOB, " RETRY_COLUMN ", " ENDED_COLUMN ","
    " " LATE_COLUMN ", " REINIT_COLUMN ", next BLOB, previous BLOB);"
    "CREATE TABLE keys(name TEXT PRIMARY KEY NOT NULL, key_id INTEGER NOT NULL, bytes BLOB NOT NULL);"
    "CREATE TABLE used_tokens(container TEXT PRIMARY KEY NOT NULL, expiry_ms INTEGER NOT NULL);"
    "CREATE TABLE deletions(id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, task TEXT NOT NULL);"
    "CREATE TABLE log_deleters(app TEXT PRIMARY KEY NOT NULL, user TEXT NOT NULL, at_ms INTEGER NOT NULL);"
    "CREATE TABLE resources(key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL);" MCS_TABLE SERVICE_DATA_TABLE LOG_TABLES AMRMPROXY_TABLE;
const char *const nm_store_upgrades[NM_STORE_SCHEMA - 1] = {
    "ALTER TABLE containers ADD COLUMN assigned TEXT NOT NULL DEFAULT '';",
    "ALTER TABLE containers ADD COLUMN updated BLOB;",
    MCS_TABLE,
    SERVICE_DATA_TABLE,
    LOG_TABLES,
    ADD_COLUMN RETRY_COLUMN "; " ADD_COLUMN ENDED_COLUMN ";",
    ADD_COLUMN LATE_COLUMN "; " ADD_COLUMN REINIT_COLUMN "; " ADD_COLUMN "next BLOB; " ADD_COLUMN "previous BLOB;",
    AMRMPROXY_TABLE,
};
/* clang-format on */
