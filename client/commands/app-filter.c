/* See app-filter.h. */
#include "client/commands/app-filter.h"

#include <ctype.h>
#include <string.h>

/* Splits "a,b"; -1: an empty name, or more than fit. */
static int split(char *value, const char **list, size_t *n)
{
    for (char *name; (name = strsep(&value, ","));) {
        if (*name == '\0' || *n == CLI_FILTER_MAX)
            return -1;
        list[(*n)++] = name;
    }
    return 0;
}

static int take_states(struct cli_app_filter *f, char *value)
{
    const char *names[CLI_FILTER_MAX];
    size_t n = 0;

    if (split(value, names, &n) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        enum cli_app_state state = cli_app_state_named(names[i]);

        if (!state || f->n_states == CLI_FILTER_MAX)
            return -1;
        f->states[f->n_states++] = state;
    }
    return 0;
}

static int take_tags(struct cli_app_filter *f, char *value)
{
    for (char *p = value; *p; p++)
        *p = (char)tolower((unsigned char)*p); /* as YARN stores them */
    return split(value, f->tags, &f->n_tags);
}

int cli_app_filter_option(struct cli_app_filter *f, int letter, char *value)
{
    char given[256];
    int r;

    if (!strchr("uqst", letter) && letter != APP_FILTER_TAG)
        return -1;
    snprintf(given, sizeof(given), "%s", value);
    r = letter == 'u'   ? split(value, f->users, &f->n_users)
        : letter == 'q' ? split(value, f->queues, &f->n_queues)
        : letter == 't' ? split(value, f->types, &f->n_types)
        : letter == 's' ? take_states(f, value)
                        : take_tags(f, value);
    if (r == 0)
        return 0;
    if (letter == 's')
        (void)cli_fail("ps: --state %s: expected NEW, NEW_SAVING, SUBMITTED, ACCEPTED, RUNNING, "
                       "FINISHED, FAILED or KILLED, with commas between them",
                       given);
    else
        (void)cli_fail("ps: --%s %s: expected at most %d names with commas between them",
                       letter == 'u'   ? "user"
                       : letter == 'q' ? "queue"
                       : letter == 't' ? "type"
                                       : "tag",
                       given, CLI_FILTER_MAX);
    return 2;
}
