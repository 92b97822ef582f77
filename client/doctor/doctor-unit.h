/* Units, as systemd's manager has them: drop-ins are in it. For `selvedge doctor`. */
#ifndef SELVEDGE_CLIENT_DOCTOR_DOCTOR_UNIT_H
#define SELVEDGE_CLIENT_DOCTOR_DOCTOR_UNIT_H

#include <systemd/sd-bus.h>

#include "common/base.h"

struct doctor_unit {
    char path[256]; /* of its object */
    char load[32], active[32], user[64];
    int delegate, no_new_privs;
};

/* Is systemd the first process? */
bool cli_doctor_systemd_runs(void);
/* False: no such unit. Of a template give an instance, which need not be there. */
bool cli_doctor_unit_load(sd_bus *bus, const char *name, struct doctor_unit *ret);
/* The files of LoadCredential=, NULL-terminated, freed by sv_strv_free; NULL: none. */
char **cli_doctor_unit_credentials(sd_bus *bus, const struct doctor_unit *unit);
/* The value of "-D KEY=VALUE" in ExecStart=, malloc'd; NULL: none. */
char *cli_doctor_unit_setting(sd_bus *bus, const struct doctor_unit *unit, const char *key);

#endif
