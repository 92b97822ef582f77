/* Stands in for user-lookup in a test: an account service that lies, dies or never answers,
 * depending on the requested name. Prints the helper's input if the test requests it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "setuid-helper/lookup.h"

#define IDS offsetof(struct hlp_account, home)
#define NO_NAMES offsetof(struct hlp_account, names)

extern char **environ;
static struct hlp_account a;

static int answer(uint32_t uid, uint32_t gid, size_t len)
{
    a.uid = uid;
    a.gid = gid;
    return write(1, &a, len) == (ssize_t)len ? 0 : 1;
}

/* Without a NUL if it is too long. */
static void set(char field[HLP_FIELD_MAX], const char *text)
{
    memset(field, 0, HLP_FIELD_MAX);
    memcpy(field, text, strnlen(text, HLP_FIELD_MAX));
}

static void group(uint32_t gid, const char *name)
{
    set(a.names[a.n_groups], name);
    a.groups[a.n_groups++] = gid;
}

/* Names that would be other lines, other fields or something else to a reader of the tables. */
static void forge(uint32_t id)
{
    static const char *const bad[] = {
        "a\nroot2:x:0:", "b:x:0:root", "c\rd",    "+",    "-e", "#f", " g",
        "h,i",           "\x7fj",      "\x1b[2J", "k\tl",
    };
    static char giant[HLP_FIELD_MAX + 1];
    memset(giant, 'x', HLP_FIELD_MAX);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        group(id + 1, bad[i]);
    group(id + 1, giant); /* ends nowhere */
    group(id + 2, "domain users@example.com");
    group(id + 3, "Dom\xc3\xa4nen-Benutzer");
    set(a.home, "/home/x\nroot3:x:0:0::/:/bin/sh");
    set(a.shell, "/bin/sh:/bin/sh");
}

int main(int argc, char **argv)
{
    const char *name = argc >= 2 ? argv[1] : "";
    /* uid of the caller of the test in the name: "good-4711" */
    const char *dash = strchr(name, '-');
    uint32_t id = dash ? (uint32_t)strtoul(dash + 1, NULL, 10) : 0;
    /* An honest service writes this. */
    const size_t all = argc == 3 && strcmp(argv[2], "names") == 0 ? sizeof(a) : IDS;
    if (environ[0] || geteuid() == 0 || geteuid() == 65534 || getuid() != geteuid())
        return 7; /* the helper must give no environment and no rights */
    set(a.home, "/home/good");
    set(a.shell, "/bin/zsh");
    if (strncmp(name, "good", 4) == 0) {
        group(0, "root"); /* must be filtered */
        group(id + 5, "crew");
        group(id, "staff of good");
        return answer(id, id, all);
    }
    if (strncmp(name, "forged", 6) == 0) {
        forge(id);
        return answer(id, id, all);
    }
    if (strncmp(name, "full", 4) == 0) {
        char longest[HLP_FIELD_MAX] = "";
        memset(longest, 'g', HLP_FIELD_MAX - 1);
        for (uint32_t i = 0; i < HLP_GROUPS_MAX; i++)
            group(id + i, longest);
        return answer(id, id, all);
    }
    if (strncmp(name, "slow", 4) == 0) { /* only the first name came in time */
        group(id, "first");
        group(id + 1, "");
        set(a.home, "not/a/path");
        return answer(id, id, argc == 3 ? NO_NAMES + HLP_FIELD_MAX : IDS);
    }
    if (strncmp(name, "badexit", 7) == 0)
        return answer(id, id, IDS) + 3;
    if (strcmp(name, "root0") == 0)
        return answer(0, 0, IDS);
    if (strncmp(name, "gid0", 4) == 0)
        return answer(id, 0, IDS);
    if (strcmp(name, "minus") == 0)
        return answer(UINT32_MAX, UINT32_MAX, IDS);
    if (strncmp(name, "many", 4) == 0) {
        a.n_groups = HLP_GROUPS_MAX + 1;
        return answer(id, id, IDS);
    }
    if (strncmp(name, "short", 5) == 0)
        return answer(id, id, 8);
    if (strncmp(name, "less", 4) == 0)
        return answer(id, id, IDS - 1);
    if (strncmp(name, "flood", 5) == 0)
        for (char block[4096] = { 0 }; write(1, block, sizeof(block)) > 0;)
            ;
    if (strcmp(name, "crash") == 0)
        abort();
    if (strcmp(name, "hang") == 0)
        for (;;)
            (void)pause();
    return 1;
}
