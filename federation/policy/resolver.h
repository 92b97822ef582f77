/* Which sub-cluster a node or a rack belongs to: the machine list, yarn.federation.machine-list.
 *
 *   node1.example.org, SC-1, /rack1
 *
 * One node a line; node and rack in any case, blanks around each. As Hadoop's
 * DefaultSubClusterResolverImpl: a malformed line is left out, a later line of a node replaces the
 * earlier one, and a rack belongs to each sub-cluster that a line gives it. Hostile: the file. */
#ifndef SELVEDGE_FEDERATION_POLICY_RESOLVER_H
#define SELVEDGE_FEDERATION_POLICY_RESOLVER_H

#include "common/error.h"

#define FED_MACHINE_LIST_MAX (64u << 20) /* bytes */
#define FED_MACHINES_MAX 500000          /* lines */

struct fed_resolver;
struct fed_resolver_notes {
    size_t n_machines;
    size_t n_malformed, first_malformed; /* lines left out; the number of the first, from 1 */
};

/* -EINVAL: too long, or more than FED_MEMBERS_MAX sub-clusters; -ENOMEM. */
int fed_resolver_parse(const char *text, size_t n, struct fed_resolver **ret,
                       struct fed_resolver_notes *ret_notes, struct sv_error *err) _must_use_;
/* Reads the file; for a start, or a thread: it blocks. Any -errno, with the reason. */
int fed_resolver_load(const char *path, struct fed_resolver **ret,
                      struct fed_resolver_notes *ret_notes, struct sv_error *err) _must_use_;
struct fed_resolver *fed_resolver_free(struct fed_resolver *r); /* accepts NULL, returns NULL */
static inline void fed_resolver_freep(struct fed_resolver **r)
{
    *r = fed_resolver_free(*r);
}

/* The sub-clusters that the list names, by number. */
size_t fed_resolver_count(const struct fed_resolver *r);
const char *fed_resolver_id(const struct fed_resolver *r, size_t number);

/* A name longer than a line's is unknown. `r` NULL: nothing is known. */
int fed_resolver_node(const struct fed_resolver *r, const char *node); /* number; -ENOENT */
/* The rack's sub-clusters in the list's order: their count, 0 if it is unknown. */
size_t fed_resolver_rack(const struct fed_resolver *r, const char *rack, const uint16_t **ret);

#endif
