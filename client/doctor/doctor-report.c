/* The findings of `selvedge doctor`, as text and as JSON. */
#include <jansson.h>
#include <stdarg.h>
#include <string.h>
#include <utlist.h>

#include "client/doctor/doctor.h"
#include "common/str.h"

struct doctor_finding {
    struct doctor_finding *prev, *next;
    enum doctor_state state;
    const char *area; /* a literal */
    char *text, *remedy;
};

static const char *const state_words[] = { "ok", "note", "weak", "BAD" };

void cli_doctor_report(struct doctor *d, enum doctor_state state, const char *area,
                       const char *remedy, const char *fmt, ...)
{
    struct doctor_finding *f = calloc(1, sizeof(*f));
    char text[2048];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    d->counts[state]++;
    if (!f)
        return; /* still counted */
    f->state = state;
    f->area = area;
    f->text = strdup(text);
    f->remedy = remedy ? strdup(remedy) : NULL;
    DL_APPEND(d->findings, f);
}

void cli_doctor_print_json(const struct doctor *d, int code, const struct cli_output *o)
{
    static const char *const words[] = { "ok", "note", "weak", "bad" };
    json_t *list = json_array();
    const struct doctor_finding *f;

    DL_FOREACH (d->findings, f)
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:s?}", "state", words[f->state], "area", f->area,
                            "text", cli_json_string(f->text ? f->text : ""), "remedy", f->remedy));
    cli_output_json(o, json_pack("{s:i, s:o}", "exitCode", code, "findings", list), stdout);
}

static bool alike(const struct doctor_finding *a, const struct doctor_finding *b)
{
    return b && a->state == b->state && a->area == b->area && a->remedy &&
           sv_streq(a->remedy, b->remedy);
}

/* Unless `all`, prints one finding per remedy, and on a machine without an installation neither
 * notes nor passed checks. */
void cli_doctor_print_text(const struct doctor *d, bool all)
{
    const struct doctor_finding *f;
    char line[2048];

    for (f = d->findings; f; f = f->next) {
        unsigned more = 0;

        if (!all && d->absent && f->state < DOCTOR_WEAK)
            continue;
        sv_escape(line, sizeof(line), f->text ? f->text : "");
        printf("%-4s  %-13s  %s", state_words[f->state], f->area, line);
        for (; !all && alike(f, f->next); f = f->next)
            more++;
        if (more)
            printf(" (and %u more like it)", more);
        putchar('\n');
        if (f->remedy)
            printf("%19s  -> %s\n", "", f->remedy);
    }
    if (d->counts[DOCTOR_BAD])
        printf("Findings that prevent containers from starting or break a guarantee: %u.",
               d->counts[DOCTOR_BAD]);
    else if (d->counts[DOCTOR_WEAK])
        printf("Containers run here; protections weaker than possible: %u.",
               d->counts[DOCTOR_WEAK]);
    else
        printf("Containers run here, and every limit is enforced.");
    printf("%s\n", all ? "" : " --verbose shows all that was checked.");
}

void cli_doctor_findings_free(struct doctor *d)
{
    struct doctor_finding *f, *next;

    DL_FOREACH_SAFE (d->findings, f, next) {
        free(f->text);
        free(f->remedy);
        free(f);
    }
}
