/* See caps.h. */
#include "common/caps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Appends the name of `c` to the list in SV_CAPS_TEXT_MAX bytes. */
static void add_name(char *list, cap_value_t c)
{
    size_t used = strlen(list);
    char *name = cap_to_name(c); /* the number itself for an unknown capability */

    (void)snprintf(list + used, SV_CAPS_TEXT_MAX - used, "%s%s", used ? "," : "",
                   name ? name : "?");
    (void)cap_free(name);
}

static void list_permitted(cap_t caps, char *ret)
{
    ret[0] = '\0';
    for (cap_value_t c = 0; CAP_IS_SUPPORTED(c); c++) {
        cap_flag_value_t set;

        if (cap_get_flag(caps, c, CAP_PERMITTED, &set) == 0 && set == CAP_SET)
            add_name(ret, c);
    }
}

int sv_caps_drop_all(char *ret_had)
{
    cap_t had = cap_get_proc(), none = cap_init();
    int r = had && none ? 0 : -errno;

    if (r == 0 && cap_reset_ambient() < 0)
        r = -errno;
    /* A unit without capabilities may have a system call filter without capset. */
    if (r == 0 && cap_compare(had, none) != 0 && cap_set_proc(none) < 0)
        r = -errno;
    if (r == 0 && ret_had)
        list_permitted(had, ret_had);
    (void)cap_free(had); /* NULL is an error without effect, ignoring */
    (void)cap_free(none);
    return r;
}

size_t sv_caps_unbounded(const cap_value_t *wanted, size_t n, char *ret)
{
    size_t missing = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < n; i++)
        if (cap_get_bound(wanted[i]) != 1) {
            add_name(ret, wanted[i]);
            missing++;
        }
    return missing;
}
