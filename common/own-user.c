/* See own-user.h. */
#include "common/own-user.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_BYTES 256 /* a longer one is no name of ours */

const char *sv_own_user(void)
{
    static _Thread_local struct {
        bool known, found;
        uid_t uid;
        char name[NAME_MAX_BYTES];
    } own;
    struct passwd pw, *found = NULL;
    char buf[4096];

    if (!own.known || own.uid != geteuid()) {
        own.known = true;
        own.uid = geteuid();
        own.found = getpwuid_r(own.uid, &pw, buf, sizeof(buf), &found) == 0 && found &&
                    strlen(found->pw_name) < sizeof(own.name);
        (void)snprintf(own.name, sizeof(own.name), "%s", own.found ? found->pw_name : "");
    }
    return own.found ? own.name : NULL;
}
