/* See machine-list.h. */
#include "common/identity/machine-list.h"

#include <errno.h>
#include <stdlib.h>

#include "common/address.h"
#include "common/str.h"

struct sv_machine_list {
    bool all;
    size_t n;
    struct sv_network networks[];
};

struct sv_machine_list *sv_machine_list_free(struct sv_machine_list *l)
{
    free(l);
    return NULL;
}

static int add(struct sv_machine_list *l, const char *entry, bool alone, struct sv_error *err)
{
    char shown[200];
    int r;

    sv_escape(shown, sizeof(shown), entry);
    if (sv_streq(entry, "*")) {
        l->all = true;
        return alone ? 0 : sv_error_set(err, -EINVAL, "a * beside other machines; it stands alone");
    }
    r = sv_network_parse(entry, &l->networks[l->n]);
    if (r == -EINVAL)
        return sv_error_set(err, r,
                            "\"%s\" is neither an address nor a network, ADDRESS/BITS; names are "
                            "not looked up: write the machine's address",
                            shown);
    if (r < 0)
        return sv_error_errno(err, r, "%s", shown);
    l->n++;
    return 0;
}

int sv_machine_list_parse(const char *text, struct sv_machine_list **ret, struct sv_error *err)
{
    _cleanup_(sv_machine_list_freep) struct sv_machine_list *l = NULL;
    _cleanup_strv_ char **entries = NULL;
    int r = sv_strv_split(text, ',', &entries);
    size_t n;

    if (r < 0)
        return sv_error_errno(err, r, "list of machines");
    n = sv_strv_len(entries);
    if (n > SV_MACHINES_MAX)
        return sv_error_set(err, -EINVAL, "more than %d machines: write networks", SV_MACHINES_MAX);
    l = calloc(1, sizeof(*l) + n * sizeof(l->networks[0]));
    if (!l)
        return sv_error_errno(err, -ENOMEM, "list of machines");
    for (size_t i = 0; i < n && r >= 0; i++)
        r = add(l, entries[i], n == 1, err);
    if (r < 0)
        return r;
    *ret = SV_TAKE(l);
    return 0;
}

bool sv_machine_list_has(const struct sv_machine_list *l, const struct in6_addr *ip)
{
    if (l->all)
        return true;
    for (size_t i = 0; i < l->n; i++)
        if (sv_network_has(&l->networks[i], ip))
            return true;
    return false;
}

bool sv_machine_list_has_all(const struct sv_machine_list *l)
{
    return l->all;
}
