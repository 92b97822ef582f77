/* Lists of machines in keys: "*", or addresses and networks, ADDRESS/BITS, between commas, as
 * Hadoop's MachineList. Without names: Hadoop looks one up for each connection, forward and back,
 * which gives whoever owns a reverse zone a say; an operator writes the addresses. Trusted: the
 * list. */
#ifndef SELVEDGE_COMMON_IDENTITY_MACHINE_LIST_H
#define SELVEDGE_COMMON_IDENTITY_MACHINE_LIST_H

#include <netinet/in.h>

#include "common/base.h"
#include "common/error.h"

#define SV_MACHINES_MAX 4096 /* entries */

struct sv_machine_list;

/* "" is a list without machines. -EINVAL: a name, or what is neither address nor network; a `*`
 * beside others. */
int sv_machine_list_parse(const char *text, struct sv_machine_list **ret, struct sv_error *err)
    _must_use_;
struct sv_machine_list *sv_machine_list_free(struct sv_machine_list *l);
static inline void sv_machine_list_freep(struct sv_machine_list **l)
{
    *l = sv_machine_list_free(*l);
}
/* `ip`: IPv4 as mapped into IPv6. */
bool sv_machine_list_has(const struct sv_machine_list *l, const struct in6_addr *ip);
bool sv_machine_list_has_all(const struct sv_machine_list *l); /* "*" */

#endif
