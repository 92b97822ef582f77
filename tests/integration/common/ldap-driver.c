/* Groups of users by the keys of LdapGroupsMapping, for test-ldap:
 *
 *     ldap-driver KEY=VALUE… -- USER…
 *
 * A line a user: "USER: GROUP,GROUP", the primary one first, or "USER! REASON"; "refused: …" where
 * the keys are. "-" waits for a line of standard input. */
#include <stdio.h>
#include <string.h>

#include "common/ldap/ldap-groups.h"
#include "common/str.h"

static void print(const struct sv_groups_source *s, const char *user)
{
    char why[SV_GROUPS_WHY_MAX] = "";
    char **names = s->names(s->data, user, why, sizeof(why));

    if (*why) {
        printf("%s! %s\n", user, why);
    } else {
        printf("%s: ", user);
        for (char **n = names; n && *n; n++)
            printf("%s%s", n == names ? "" : ",", *n);
        printf("\n");
    }
    fflush(stdout);
    sv_strv_free(names);
}

int main(int argc, char **argv)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct sv_groups_source s;
    struct sv_error err = { 0 };
    int i = 1;

    for (; c && i < argc && strcmp(argv[i], "--") != 0; i++) {
        char *value = strchr(argv[i], '=');

        if (!value)
            return 2;
        *value++ = 0;
        if (sv_conf_set(c, argv[i], value) < 0)
            return 2;
    }
    if (!c || sv_ldap_groups_source(c, &s, &err) < 0) {
        printf("refused: %s\n", err.text);
        return 0;
    }
    for (i++; i < argc && s.names; i++)
        if (strcmp(argv[i], "-") == 0)
            (void)getchar();
        else
            print(&s, argv[i]);
    sv_groups_source_unref(&s);
    return 0;
}
