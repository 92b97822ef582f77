/* See mysql-schema.h. */
#include "federation/store/mysql-schema.h"

#define TABLE(name, columns)                                                                       \
    {                                                                                              \
        name, false,                                                                               \
            "CREATE TABLE IF NOT EXISTS " name " (" columns                                        \
            ") ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"                  \
    }
#define PROCEDURE(name, parameters, body)                                                          \
    {                                                                                              \
        name, true,                                                                                \
            "CREATE PROCEDURE " name "(" parameters ") SQL SECURITY INVOKER BEGIN " body " END"    \
    }

/* A parameter compares as the columns do, whatever the database's default is. */
#define TEXT(n) " varchar(" #n ") CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
#define COUNT ", OUT rowCount_OUT int"
/* Inserts a row, or none where the key exists. */
#define INSERT_NEW(what)                                                                           \
    "DECLARE CONTINUE HANDLER FOR 1062 SET rowCount_OUT = 0; SET rowCount_OUT = 1; INSERT "        \
    "INTO " what ";"
#define FOUND(table, key)                                                                          \
    " SELECT COUNT(*) INTO rowCount_OUT FROM " table " WHERE " key " = " key "_IN;"
#define DELETE_ROW(table, key)                                                                     \
    "DELETE FROM " table " WHERE " key " = " key "_IN; SET rowCount_OUT = ROW_COUNT();"

/* clang-format off */
static const struct fed_schema_part parts[] = {
    TABLE("applicationsHomeSubCluster",
          "applicationId varchar(64) NOT NULL, homeSubCluster varchar(256) NOT NULL,"
          " createTime datetime NOT NULL, applicationContext blob NULL, PRIMARY KEY (applicationId)"),
    TABLE("membership",
          "subClusterId varchar(256) NOT NULL, amRMServiceAddress varchar(256) NOT NULL,"
          " clientRMServiceAddress varchar(256) NOT NULL, rmAdminServiceAddress varchar(256) NOT NULL,"
          " rmWebServiceAddress varchar(256) NOT NULL, lastHeartBeat datetime NOT NULL,"
          " state varchar(32) NOT NULL, lastStartTime bigint NULL, capability varchar(6000),"
          " PRIMARY KEY (subClusterId), UNIQUE (lastStartTime)"),
    TABLE("policies",
          "queue varchar(256) NOT NULL, policyType varchar(256) NOT NULL, params varbinary(32768),"
          " PRIMARY KEY (queue)"),
    TABLE("reservationsHomeSubCluster",
          "reservationId varchar(128) NOT NULL, homeSubCluster varchar(256) NOT NULL,"
          " PRIMARY KEY (reservationId)"),
    TABLE("masterKeys",
          "keyId bigint NOT NULL, masterKey varchar(1024) NOT NULL, PRIMARY KEY (keyId)"),
    TABLE("delegationTokens",
          "sequenceNum bigint NOT NULL, tokenIdent varchar(1024) NOT NULL, token varchar(1024) NOT NULL,"
          " renewDate bigint NOT NULL, PRIMARY KEY (sequenceNum)"),
    TABLE("sequenceTable",
          "sequenceName varchar(255) NOT NULL, nextVal bigint NOT NULL, PRIMARY KEY (sequenceName)"),
    TABLE("versions",
          "fedVersion varbinary(1024) NOT NULL, versionComment varchar(255), PRIMARY KEY (fedVersion)"),

    PROCEDURE("sp_registerSubCluster",
              "IN subClusterId_IN" TEXT(256) ", IN amRMServiceAddress_IN" TEXT(256)
              ", IN clientRMServiceAddress_IN" TEXT(256) ", IN rmAdminServiceAddress_IN" TEXT(256)
              ", IN rmWebServiceAddress_IN" TEXT(256) ", IN state_IN" TEXT(256)
              ", IN lastStartTime_IN bigint, IN capability_IN" TEXT(6000) COUNT,
              "DECLARE start_at bigint DEFAULT lastStartTime_IN;"
              " WHILE EXISTS (SELECT 1 FROM membership"
              "   WHERE lastStartTime = start_at AND subClusterId <> subClusterId_IN)"
              " DO SET start_at = start_at + 1; END WHILE;"
              " IF EXISTS (SELECT 1 FROM membership WHERE subClusterId = subClusterId_IN) THEN"
              "  UPDATE membership SET amRMServiceAddress = amRMServiceAddress_IN,"
              "   clientRMServiceAddress = clientRMServiceAddress_IN,"
              "   rmAdminServiceAddress = rmAdminServiceAddress_IN,"
              "   rmWebServiceAddress = rmWebServiceAddress_IN, lastHeartBeat = UTC_TIMESTAMP(),"
              "   state = state_IN, lastStartTime = start_at, capability = capability_IN"
              "   WHERE subClusterId = subClusterId_IN;"
              " ELSE"
              "  INSERT INTO membership (subClusterId, amRMServiceAddress, clientRMServiceAddress,"
              "   rmAdminServiceAddress, rmWebServiceAddress, lastHeartBeat, state, lastStartTime, capability)"
              "   VALUES (subClusterId_IN, amRMServiceAddress_IN, clientRMServiceAddress_IN,"
              "   rmAdminServiceAddress_IN, rmWebServiceAddress_IN, UTC_TIMESTAMP(), state_IN, start_at,"
              "   capability_IN);"
              " END IF; SET rowCount_OUT = 1;"),
    PROCEDURE("sp_deregisterSubCluster", "IN subClusterId_IN" TEXT(256) ", IN state_IN" TEXT(64) COUNT,
              "UPDATE membership SET state = state_IN WHERE subClusterId = subClusterId_IN;"
              FOUND("membership", "subClusterId")),
    PROCEDURE("sp_subClusterHeartbeat",
              "IN subClusterId_IN" TEXT(256) ", IN state_IN" TEXT(64) ", IN capability_IN" TEXT(6000) COUNT,
              "UPDATE membership SET capability = capability_IN, state = state_IN,"
              " lastHeartBeat = UTC_TIMESTAMP() WHERE subClusterId = subClusterId_IN;"
              FOUND("membership", "subClusterId")),
    PROCEDURE("sp_getSubCluster",
              "IN subClusterId_IN" TEXT(256) ", OUT amRMServiceAddress_OUT" TEXT(256)
              ", OUT clientRMServiceAddress_OUT" TEXT(256) ", OUT rmAdminServiceAddress_OUT" TEXT(256)
              ", OUT rmWebServiceAddress_OUT" TEXT(256) ", OUT lastHeartBeat_OUT datetime, OUT state_OUT" TEXT(64)
              ", OUT lastStartTime_OUT bigint, OUT capability_OUT" TEXT(6000),
              "SELECT amRMServiceAddress, clientRMServiceAddress, rmAdminServiceAddress, rmWebServiceAddress,"
              " lastHeartBeat, state, lastStartTime, capability"
              " INTO amRMServiceAddress_OUT, clientRMServiceAddress_OUT, rmAdminServiceAddress_OUT,"
              " rmWebServiceAddress_OUT, lastHeartBeat_OUT, state_OUT, lastStartTime_OUT, capability_OUT"
              " FROM membership WHERE subClusterId = subClusterId_IN;"),
    PROCEDURE("sp_getSubClusters", "",
              "SELECT subClusterId, amRMServiceAddress, clientRMServiceAddress, rmAdminServiceAddress,"
              " rmWebServiceAddress, lastHeartBeat, state, lastStartTime, capability FROM membership;"),

    PROCEDURE("sp_addApplicationHomeSubCluster",
              "IN applicationId_IN" TEXT(64) ", IN homeSubCluster_IN" TEXT(256)
              ", IN applicationContext_IN blob, OUT storedHomeSubCluster_OUT" TEXT(256) COUNT,
              INSERT_NEW("applicationsHomeSubCluster (applicationId, homeSubCluster, createTime, applicationContext)"
                         " VALUES (applicationId_IN, homeSubCluster_IN, UTC_TIMESTAMP(), applicationContext_IN)")
              " SELECT homeSubCluster INTO storedHomeSubCluster_OUT FROM applicationsHomeSubCluster"
              " WHERE applicationId = applicationId_IN;"),
    PROCEDURE("sp_updateApplicationHomeSubCluster",
              "IN applicationId_IN" TEXT(64) ", IN homeSubCluster_IN" TEXT(256)
              ", IN applicationContext_IN blob" COUNT,
              "UPDATE applicationsHomeSubCluster SET homeSubCluster = homeSubCluster_IN,"
              " applicationContext = applicationContext_IN WHERE applicationId = applicationId_IN;"
              FOUND("applicationsHomeSubCluster", "applicationId")),
    PROCEDURE("sp_getApplicationHomeSubCluster",
              "IN applicationId_IN" TEXT(64) ", OUT homeSubCluster_OUT" TEXT(256)
              ", OUT createTime_OUT datetime, OUT applicationContext_OUT blob",
              "SELECT homeSubCluster, createTime, applicationContext"
              " INTO homeSubCluster_OUT, createTime_OUT, applicationContext_OUT"
              " FROM applicationsHomeSubCluster WHERE applicationId = applicationId_IN;"),
    PROCEDURE("sp_getApplicationsHomeSubCluster", "IN limit_IN int, IN homeSubCluster_IN" TEXT(256),
              "SELECT applicationId, homeSubCluster, createTime FROM applicationsHomeSubCluster"
              " WHERE homeSubCluster_IN = '' OR homeSubCluster = homeSubCluster_IN"
              " ORDER BY createTime DESC, applicationId LIMIT limit_IN;"),
    PROCEDURE("sp_deleteApplicationHomeSubCluster", "IN applicationId_IN" TEXT(64) COUNT,
              DELETE_ROW("applicationsHomeSubCluster", "applicationId")),

    PROCEDURE("sp_setPolicyConfiguration",
              "IN queue_IN" TEXT(256) ", IN policyType_IN" TEXT(256) ", IN params_IN varbinary(32768)" COUNT,
              "REPLACE INTO policies (queue, policyType, params) VALUES (queue_IN, policyType_IN, params_IN);"
              " SET rowCount_OUT = 1;"),
    PROCEDURE("sp_getPolicyConfiguration",
              "IN queue_IN" TEXT(256) ", OUT policyType_OUT" TEXT(256) ", OUT params_OUT varbinary(32768)",
              "SELECT policyType, params INTO policyType_OUT, params_OUT FROM policies WHERE queue = queue_IN;"),
    PROCEDURE("sp_getPoliciesConfigurations", "", "SELECT queue, policyType, params FROM policies;"),

    PROCEDURE("sp_addReservationHomeSubCluster",
              "IN reservationId_IN" TEXT(128) ", IN homeSubCluster_IN" TEXT(256)
              ", OUT storedHomeSubCluster_OUT" TEXT(256) COUNT,
              INSERT_NEW("reservationsHomeSubCluster (reservationId, homeSubCluster)"
                         " VALUES (reservationId_IN, homeSubCluster_IN)")
              " SELECT homeSubCluster INTO storedHomeSubCluster_OUT FROM reservationsHomeSubCluster"
              " WHERE reservationId = reservationId_IN;"),
    PROCEDURE("sp_getReservationHomeSubCluster",
              "IN reservationId_IN" TEXT(128) ", OUT homeSubCluster_OUT" TEXT(256),
              "SELECT homeSubCluster INTO homeSubCluster_OUT FROM reservationsHomeSubCluster"
              " WHERE reservationId = reservationId_IN;"),
    PROCEDURE("sp_getReservationsHomeSubCluster", "",
              "SELECT reservationId, homeSubCluster FROM reservationsHomeSubCluster;"),
    PROCEDURE("sp_updateReservationHomeSubCluster",
              "IN reservationId_IN" TEXT(128) ", IN homeSubCluster_IN" TEXT(256) COUNT,
              "UPDATE reservationsHomeSubCluster SET homeSubCluster = homeSubCluster_IN"
              " WHERE reservationId = reservationId_IN;"
              FOUND("reservationsHomeSubCluster", "reservationId")),
    PROCEDURE("sp_deleteReservationHomeSubCluster", "IN reservationId_IN" TEXT(128) COUNT,
              DELETE_ROW("reservationsHomeSubCluster", "reservationId")),

    PROCEDURE("sp_addMasterKey", "IN keyId_IN bigint, IN masterKey_IN" TEXT(1024) COUNT,
              INSERT_NEW("masterKeys (keyId, masterKey) VALUES (keyId_IN, masterKey_IN)")),
    PROCEDURE("sp_getMasterKey", "IN keyId_IN bigint, OUT masterKey_OUT" TEXT(1024),
              "SELECT masterKey INTO masterKey_OUT FROM masterKeys WHERE keyId = keyId_IN;"),
    PROCEDURE("sp_deleteMasterKey", "IN keyId_IN bigint" COUNT, DELETE_ROW("masterKeys", "keyId")),
    PROCEDURE("sp_addDelegationToken",
              "IN sequenceNum_IN bigint, IN tokenIdent_IN" TEXT(1024) ", IN token_IN" TEXT(1024)
              ", IN renewDate_IN bigint" COUNT,
              INSERT_NEW("delegationTokens (sequenceNum, tokenIdent, token, renewDate)"
                         " VALUES (sequenceNum_IN, tokenIdent_IN, token_IN, renewDate_IN)")),
    PROCEDURE("sp_getDelegationToken",
              "IN sequenceNum_IN bigint, OUT tokenIdent_OUT" TEXT(1024) ", OUT token_OUT" TEXT(1024)
              ", OUT renewDate_OUT bigint",
              "SELECT tokenIdent, token, renewDate INTO tokenIdent_OUT, token_OUT, renewDate_OUT"
              " FROM delegationTokens WHERE sequenceNum = sequenceNum_IN;"),
    PROCEDURE("sp_updateDelegationToken",
              "IN sequenceNum_IN bigint, IN tokenIdent_IN" TEXT(1024) ", IN token_IN" TEXT(1024)
              ", IN renewDate_IN bigint" COUNT,
              "UPDATE delegationTokens SET tokenIdent = tokenIdent_IN, token = token_IN,"
              " renewDate = renewDate_IN WHERE sequenceNum = sequenceNum_IN;"
              FOUND("delegationTokens", "sequenceNum")),
    PROCEDURE("sp_deleteDelegationToken", "IN sequenceNum_IN bigint" COUNT,
              DELETE_ROW("delegationTokens", "sequenceNum")),

    PROCEDURE("sp_storeVersion",
              "IN fedVersion_IN varbinary(1024), IN versionComment_IN" TEXT(255) COUNT,
              "REPLACE INTO versions (fedVersion, versionComment) VALUES (fedVersion_IN, versionComment_IN);"
              " DELETE FROM versions WHERE fedVersion <> fedVersion_IN; SET rowCount_OUT = 1;"),
    PROCEDURE("sp_getVersion", "OUT fedVersion_OUT varbinary(1024), OUT versionComment_OUT" TEXT(255),
              "SELECT fedVersion, versionComment INTO fedVersion_OUT, versionComment_OUT FROM versions LIMIT 1;"),
};
/* clang-format on */

const struct fed_schema_part *fed_mysql_schema(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(parts);
    return parts;
}

void fed_mysql_identifier(char *dst, size_t size, const char *name)
{
    size_t n = 0;

    dst[n++] = '`';
    for (; *name && n + 3 < size; name++) {
        if (*name == '`')
            dst[n++] = '`';
        dst[n++] = *name;
    }
    dst[n++] = '`';
    dst[n] = '\0';
}
