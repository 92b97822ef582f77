/* Statements of the store in MySQL's and SQLite's words, a row a statement. */
#include "federation/store/sql.h"

#define MEMBER(MS)                                                                                 \
    "SELECT subClusterId, amRMServiceAddress, clientRMServiceAddress, rmAdminServiceAddress,"      \
    " rmWebServiceAddress, " MS("lastHeartBeat") ", state, lastStartTime, capability"              \
                                                 " FROM membership "
#define HOME(MS) "SELECT applicationId, homeSubCluster, " MS("createTime")
#define LATEST " ORDER BY createTime DESC, applicationId LIMIT ?"

/* NOW: the server's time; MS: a time as milliseconds; NEXT and NEW: SQL_SEQUENCE_NEXT and _NEW. */
/* clang-format off */
#define STATEMENTS(NOW, MS, NEXT, NEW, SCHEMA) { \
    [SQL_MEMBER_UPDATE] = "UPDATE membership SET amRMServiceAddress = ?, clientRMServiceAddress = ?," \
        " rmAdminServiceAddress = ?, rmWebServiceAddress = ?, lastHeartBeat = " NOW ", state = ?," \
        " lastStartTime = ?, capability = ? WHERE subClusterId = ?", \
    [SQL_MEMBER_INSERT] = "INSERT INTO membership (amRMServiceAddress, clientRMServiceAddress, rmAdminServiceAddress," \
        " rmWebServiceAddress, lastHeartBeat, state, lastStartTime, capability, subClusterId)" \
        " VALUES (?, ?, ?, ?, " NOW ", ?, ?, ?, ?)", \
    [SQL_MEMBER_DEREGISTER] = "UPDATE membership SET state = ? WHERE subClusterId = ?", \
    [SQL_MEMBER_HEARTBEAT] = "UPDATE membership SET state = ?, capability = ?, lastHeartBeat = " NOW \
        " WHERE subClusterId = ?", \
    [SQL_MEMBER_GET] = MEMBER(MS) "WHERE subClusterId = ?", \
    [SQL_MEMBER_LIST] = MEMBER(MS) "ORDER BY subClusterId LIMIT ?", \
    [SQL_HOME_INSERT] = "INSERT INTO applicationsHomeSubCluster" \
        " (homeSubCluster, createTime, applicationContext, applicationId) VALUES (?, " NOW ", ?, ?)", \
    [SQL_HOME_STORED] = HOME(MS) " FROM applicationsHomeSubCluster WHERE applicationId = ?", \
    [SQL_HOME_UPDATE] = "UPDATE applicationsHomeSubCluster SET homeSubCluster = ?, applicationContext = ?" \
        " WHERE applicationId = ?", \
    [SQL_HOME_GET] = HOME(MS) ", applicationContext FROM applicationsHomeSubCluster WHERE applicationId = ?", \
    [SQL_HOME_LIST] = HOME(MS) " FROM applicationsHomeSubCluster" LATEST, \
    [SQL_HOME_LIST_OF] = HOME(MS) " FROM applicationsHomeSubCluster WHERE homeSubCluster = ?" LATEST, \
    [SQL_HOME_DELETE] = "DELETE FROM applicationsHomeSubCluster WHERE applicationId = ?", \
    [SQL_RESERVATION_INSERT] = "INSERT INTO reservationsHomeSubCluster (homeSubCluster, reservationId) VALUES (?, ?)", \
    [SQL_RESERVATION_UPDATE] = "UPDATE reservationsHomeSubCluster SET homeSubCluster = ? WHERE reservationId = ?", \
    [SQL_RESERVATION_GET] = "SELECT reservationId, homeSubCluster FROM reservationsHomeSubCluster WHERE reservationId = ?", \
    [SQL_RESERVATION_LIST] = "SELECT reservationId, homeSubCluster FROM reservationsHomeSubCluster ORDER BY reservationId LIMIT ?", \
    [SQL_RESERVATION_DELETE] = "DELETE FROM reservationsHomeSubCluster WHERE reservationId = ?", \
    [SQL_POLICY_SET] = "REPLACE INTO policies (queue, policyType, params) VALUES (?, ?, ?)", \
    [SQL_POLICY_GET] = "SELECT queue, policyType, params FROM policies WHERE queue = ?", \
    [SQL_POLICY_LIST] = "SELECT queue, policyType, params FROM policies ORDER BY queue LIMIT ?", \
    [SQL_POLICY_DELETE] = "DELETE FROM policies WHERE queue = ?", \
    [SQL_KEY_INSERT] = "INSERT INTO masterKeys (keyId, masterKey) VALUES (?, ?)", \
    [SQL_KEY_GET] = "SELECT keyId, masterKey FROM masterKeys WHERE keyId = ?", \
    [SQL_KEY_DELETE] = "DELETE FROM masterKeys WHERE keyId = ?", \
    [SQL_TOKEN_INSERT] = "INSERT INTO delegationTokens (tokenIdent, token, renewDate, sequenceNum) VALUES (?, ?, ?, ?)", \
    [SQL_TOKEN_UPDATE] = "UPDATE delegationTokens SET tokenIdent = ?, token = ?, renewDate = ? WHERE sequenceNum = ?", \
    [SQL_TOKEN_GET] = "SELECT sequenceNum, tokenIdent, token, renewDate FROM delegationTokens WHERE sequenceNum = ?", \
    [SQL_TOKEN_LIST] = "SELECT sequenceNum, tokenIdent, token, renewDate FROM delegationTokens" \
        " WHERE sequenceNum <= ? ORDER BY sequenceNum DESC LIMIT ?", \
    [SQL_TOKEN_DELETE] = "DELETE FROM delegationTokens WHERE sequenceNum = ?", \
    [SQL_SEQUENCE_INSERT] = "INSERT INTO sequenceTable (nextVal, sequenceName) VALUES (?, ?)", \
    [SQL_SEQUENCE_GET] = "SELECT nextVal FROM sequenceTable WHERE sequenceName = ?", \
    [SQL_SEQUENCE_NEXT] = "UPDATE sequenceTable SET nextVal = " NEXT " WHERE sequenceName = ?", \
    [SQL_SEQUENCE_NEW] = "SELECT " NEW " FROM sequenceTable WHERE sequenceName = ?", \
    [SQL_SEQUENCE_SET] = "UPDATE sequenceTable SET nextVal = ? WHERE sequenceName = ?", \
    [SQL_VERSION_GET] = "SELECT fedVersion FROM versions LIMIT 1", \
    [SQL_VERSION_INSERT] = "INSERT INTO versions (fedVersion, versionComment) VALUES (?, ?)", \
    [SQL_SCHEMA] = SCHEMA, \
}

/* The zone of the session does not matter. LAST_INSERT_ID is the connection's own. */
#define MYSQL_MS(column) "TIMESTAMPDIFF(SECOND, '1970-01-01', " column ") * 1000"
/* Hadoop's procedures have the time of the session's zone, or a table in another spelling. */
#define MYSQL_SCHEMA \
    "SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND LOWER(TABLE_NAME) IN" \
    " ('applicationshomesubcluster', 'membership', 'policies', 'reservationshomesubcluster', 'masterkeys'," \
    " 'delegationtokens', 'sequencetable', 'versions'))," \
    " COUNT(*), CAST(COALESCE(SUM(ROUTINE_DEFINITION LIKE '%NOW()%'" \
    "  OR ROUTINE_DEFINITION LIKE BINARY '%applicationshomesubcluster%'), 0) AS SIGNED)" \
    " FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_NAME LIKE 'sp\\_%'"
static const char *const mysql[SQL_STATEMENTS] =
    STATEMENTS("UTC_TIMESTAMP()", MYSQL_MS, "LAST_INSERT_ID(nextVal + 1)", "LAST_INSERT_ID()", MYSQL_SCHEMA);

/* wall_ms() is the store's own function. The call's transaction keeps other writers away. */
#define SQLITE_MS(column) column
static const char *const sqlite[SQL_STATEMENTS] =
    STATEMENTS("wall_ms()", SQLITE_MS, "nextVal + 1", "nextVal", "");

static const struct {
    const char *parameters, *columns;
} shapes[SQL_STATEMENTS] = {
    [SQL_MEMBER_UPDATE]      = { "acdwstpI", "" },
    [SQL_MEMBER_INSERT]      = { "acdwstpI", "" },
    [SQL_MEMBER_DEREGISTER]  = { "sI", "" },
    [SQL_MEMBER_HEARTBEAT]   = { "spI", "" },
    [SQL_MEMBER_GET]         = { "I", "nnnnninic" },
    [SQL_MEMBER_LIST]        = { "L", "nnnnninic" },
    [SQL_HOME_INSERT]        = { "HxA", "" },
    [SQL_HOME_STORED]        = { "A", "nni" },
    [SQL_HOME_UPDATE]        = { "HxA", "" },
    [SQL_HOME_GET]           = { "A", "nnix" },
    [SQL_HOME_LIST]          = { "L", "nni" },
    [SQL_HOME_LIST_OF]       = { "HL", "nni" },
    [SQL_HOME_DELETE]        = { "A", "" },
    [SQL_RESERVATION_INSERT] = { "hR", "" },
    [SQL_RESERVATION_UPDATE] = { "hR", "" },
    [SQL_RESERVATION_GET]    = { "R", "nn" },
    [SQL_RESERVATION_LIST]   = { "L", "nn" },
    [SQL_RESERVATION_DELETE] = { "R", "" },
    [SQL_POLICY_SET]         = { "qyP", "" },
    [SQL_POLICY_GET]         = { "q", "nnp" },
    [SQL_POLICY_LIST]        = { "L", "nnp" },
    [SQL_POLICY_DELETE]      = { "q", "" },
    [SQL_KEY_INSERT]         = { "kK", "" },
    [SQL_KEY_GET]            = { "k", "it" },
    [SQL_KEY_DELETE]         = { "k", "" },
    [SQL_TOKEN_INSERT]       = { "Torn", "" },
    [SQL_TOKEN_UPDATE]       = { "Torn", "" },
    [SQL_TOKEN_GET]          = { "n", "itti" },
    [SQL_TOKEN_LIST]         = { "nL", "itti" },
    [SQL_TOKEN_DELETE]       = { "n", "" },
    [SQL_SEQUENCE_INSERT]    = { "vu", "" },
    [SQL_SEQUENCE_GET]       = { "u", "i" },
    [SQL_SEQUENCE_NEXT]      = { "u", "" },
    [SQL_SEQUENCE_NEW]       = { "u", "i" },
    [SQL_SEQUENCE_SET]       = { "vu", "" },
    [SQL_VERSION_GET]        = { "", "p" },
    [SQL_VERSION_INSERT]     = { "VW", "" },
    [SQL_SCHEMA]             = { "", "iii" },
};
/* clang-format on */

const char *fed_sql_text(enum fed_sql s, enum fed_dialect dialect)
{
    return dialect == FED_MYSQL ? mysql[s] : sqlite[s];
}

const char *fed_sql_parameters(enum fed_sql s)
{
    return shapes[s].parameters;
}

const char *fed_sql_columns(enum fed_sql s)
{
    return shapes[s].columns;
}
