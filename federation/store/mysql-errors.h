/* Error numbers of MySQL and MariaDB as -errno. Pure. */
#ifndef SELVEDGE_FEDERATION_STORE_MYSQL_ERRORS_H
#define SELVEDGE_FEDERATION_STORE_MYSQL_ERRORS_H

#include "common/base.h"

#define FED_MYSQL_DUPLICATE 1062

/* `connecting`: nothing can have been executed. See struct fed_connection_events. */
int fed_mysql_error(unsigned code, bool connecting);
/* A remedy for the error, after its text: "" or ": do this". */
const char *fed_mysql_remedy(int error);

#endif
