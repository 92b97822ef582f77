/* The findings of `selvedge doctor`, as text and as JSON. */
#include <jansson.h>
#include <stdarg.h>
#include <string.h>
#include <utlist.h>

#include "client/doctor.h"
#include "common/str.h"

struct doctor_finding {
    struct doctor_finding *prev, *next;
    enum doctor_state state;
    const char *area; /* a literal */
    char *text, *remedy;
};

static const char *const state_words[] = { "ok", "note", "weak", "BAD" };

void doctor_report(struct doctor *d, enum doctor_state state, const char *area, const char *remedy,
                   const char *fmt, ...)
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

void doctor_print_json(const struct doctor *d, int code, const struct cli_output *o)
{
    static const char *const words[] = { "ok", "note", "weak", "bad" };
    json_t *list = json_array();
    const struct doctor_finding *f;

    DL_FOREACH (d->findings, f)
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:s?}", "state", words[f->state], "area", f->area,
                            "text", cli_json_text(f->text ? f->text : ""), "remedy", f->remedy));
    cli_output_json(o, json_pack("{s:i, s:o}", "exitCode", code, "findings", list), stdout);
}

void doctor_print_text(const struct doctor *d)
{
    const struct doctor_finding *f;
    char line[2048];

    DL_FOREACH (d->findings, f) {
        sv_escape(line, sizeof(line), f->text ? f->text : "");
        printf("%-4s  %-13s  %s\n", state_words[f->state], f->area, line);
        if (f->remedy)
            printf("%19s  -> %s\n", "", f->remedy);
    }
    if (d->counts[DOCTOR_BAD])
        printf("Findings that prevent containers from starting or break a guarantee: %u.\n",
               d->counts[DOCTOR_BAD]);
    else if (d->counts[DOCTOR_WEAK])
        printf("Containers run here; protections weaker than possible: %u.\n",
               d->counts[DOCTOR_WEAK]);
    else
        puts("Containers run here, and every limit is enforced.");
}

void doctor_findings_free(struct doctor *d)
{
    struct doctor_finding *f, *next;

    DL_FOREACH_SAFE (d->findings, f, next) {
        free(f->text);
        free(f->remedy);
        free(f);
    }
}
