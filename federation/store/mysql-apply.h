/* Makes the tables and procedures of mysql-schema.h in a database: for the command line. */
#ifndef SELVEDGE_FEDERATION_STORE_MYSQL_APPLY_H
#define SELVEDGE_FEDERATION_STORE_MYSQL_APPLY_H

#include <stdio.h>

#include "federation/store/backends.h"

/* Prints a script for the program mysql. Returns 0, or -EIO. */
int fed_schema_print(const char *database, FILE *out) _must_use_;
/* Makes the database where it is missing, and what is in it; runs the loop until it is done. */
int fed_schema_apply(sd_event *event, const struct fed_mysql_options *o, struct sv_error *err)
    _must_use_;

struct fed_schema_state {
    int64_t tables, procedures; /* that exist */
    int64_t wrong;              /* procedures that are Hadoop's own */
};
/* Looks at what is there, and changes nothing. */
int fed_schema_look(sd_event *event, const struct fed_mysql_options *o,
                    struct fed_schema_state *ret, struct sv_error *err) _must_use_;

#endif
