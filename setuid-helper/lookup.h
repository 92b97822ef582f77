/* The answer of user-lookup, an unprivileged program that may load NSS modules, to
 * container-executor. Hostile there: all of it. Numbers are this machine's; a text is followed by
 * zeros, and one without a NUL is none. Names may be missing at the end: a service that is slow
 * with groups delays no container. */
#ifndef SELVEDGE_SETUID_HELPER_LOOKUP_H
#define SELVEDGE_SETUID_HELPER_LOOKUP_H

#include <stdint.h>

#define HLP_GROUPS_MAX 64
#define HLP_FIELD_MAX 256 /* bytes of a text with its NUL */

struct hlp_account {
    uint32_t uid, gid, n_groups;
    uint32_t groups[HLP_GROUPS_MAX];
    /* Only if they are asked for: */
    char home[HLP_FIELD_MAX], shell[HLP_FIELD_MAX];
    char names[HLP_GROUPS_MAX][HLP_FIELD_MAX]; /* of the groups; "": it has none */
};

#endif
