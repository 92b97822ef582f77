/* See mysql-errors.h. */
#include "federation/store/mysql-errors.h"

#include <errno.h>

/* Numbers of the client library: 2000 to 2999, 5000 and more. */
static bool is_client(unsigned code)
{
    return (code >= 2000 && code < 3000) || code >= 5000;
}

static bool one_of(unsigned code, const unsigned *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == code)
            return true;
    return false;
}

#define ONE_OF(code, list) one_of(code, list, SV_ARRAY_LEN(list))

int fed_mysql_error(unsigned code, bool connecting)
{
    /* Access denied to a database, to a table, to a column, to a procedure, without a privilege,
     * by the socket's user; an expired password. */
    static const unsigned denied[] = { 1044, 1045, 1142, 1143, 1227, 1370, 1524, 1698, 1820, 1862 };
    /* No such database, table, column, procedure; another number of columns. */
    static const unsigned other_layout[] = { 1049, 1054, 1136, 1146, 1305 };
    /* Too many connections, the server is stopping, lock timeouts and deadlocks, a killed query,
     * a read-only server (a failover is under way): a later try may succeed. */
    static const unsigned later[] = { 1040, 1053, 1129, 1203, 1205, 1213, 1226, 1290, 1317, 1836 };
    static const unsigned killed[] = { 1152, 1158, 1159, 1160, 1161, 1184, 1927, 4031 };
    static const unsigned memory[] = { 2008, 1037, 1038 };

    if (ONE_OF(code, memory))
        return -ENOMEM;
    if (ONE_OF(code, denied))
        return -EACCES;
    if (ONE_OF(code, other_layout))
        return -EPROTONOSUPPORT;
    if (ONE_OF(code, later))
        return -EHOSTDOWN;
    if (is_client(code) || ONE_OF(code, killed))
        return connecting ? -EHOSTDOWN : -ECONNRESET;
    return -EREMOTEIO;
}

const char *fed_mysql_remedy(int error)
{
    switch (error) {
    case -EACCES:
        return "; look at yarn.federation.state-store.sql.username and .password, and at the "
               "account's privileges";
    case -EPROTONOSUPPORT:
        return "; make the tables by: selvedge federation schema --apply";
    default:
        return "";
    }
}
