/* The command of a job's containers: as the launch itself has it, or as a script of bash. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_COMMAND_H
#define SELVEDGE_CLIENT_RUN_RUN_COMMAND_H

#include "client/run/run.h"

/* "exec -- 'WORD'…" where every NodeManager leaves these words as they are and no variables are
 * set, else NULL. malloc'd, out of memory too is NULL: cli_run_script() then says so. */
char *cli_run_words(const struct run_options *o, const struct run_group *g) _must_use_;
/* The script that each container of the group runs: the environment, then the command. A line is
 * bash's; a program gets its arguments exactly as given. malloc'd. -ENOMEM; -EMSGSIZE: it has more
 * than a MiB. */
int cli_run_script(const struct run_options *o, const struct run_group *g, char **ret) _must_use_;

#endif
