/* One run of the operator's topology script: addresses as arguments, one rack per word on its
 * standard output. */
#ifndef SELVEDGE_RM_LITE_NODES_TOPOLOGY_SCRIPT_H
#define SELVEDGE_RM_LITE_NODES_TOPOLOGY_SCRIPT_H

#include <systemd/sd-event.h>

#include "common/error.h"

struct rm_topology_run;

/* `racks`: n words, or NULL and the reason in err->text: the script could not be run, exited with
 * another code than 0, timed out, or printed another number of words. */
typedef void (*rm_topology_run_done)(char *const *racks, const struct sv_error *err,
                                     void *userdata);

/* The script is killed after `timeout_ms`. */
int rm_topology_run_start(sd_event *event, const char *script, const char *const *addresses,
                          size_t n, int64_t timeout_ms, rm_topology_run_done done, void *userdata,
                          struct rm_topology_run **ret, struct sv_error *err) _must_use_;
/* Kills the script without a callback. Accepts NULL, returns NULL. */
struct rm_topology_run *rm_topology_run_free(struct rm_topology_run *r);

/* Cuts the next word off *at; NULL: no more. */
char *rm_topology_word(char **at);

#endif
