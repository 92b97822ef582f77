/* All that is refused in a configuration whose reading has failed, for --check-config and `selvedge
 * doctor`: the daemon names the first and ends. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_CHECK_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_CHECK_H

#include "common/conf.h"

/* Calls fn with the text of each further refusal: values of a wrong type or out of range, and what
 * this version lacks; `first` is the one that nm_conf_load has told. A value that only its
 * combination with others refuses is told once the rest is corrected. */
void nm_conf_each_refusal(struct sv_conf *c, const char *first,
                          void (*fn)(const char *text, void *userdata), void *userdata);

#endif
