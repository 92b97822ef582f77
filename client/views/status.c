/* See status.h. Hostile: both inputs, received over HTTP; the first comes from an application. */
#include "client/views/status.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "client/job/diagnostics.h"
#include "client/job/job.h"
#include "common/exit-meaning.h"
#include "common/str.h"

#define FAILURES_MAX 10 /* lines about failed instances; the table has all of them */
#define DIAGNOSTICS_MAX 3100

static const char *diagnostics_of(const struct cli_row *row)
{
    return row->diagnostics ? row->diagnostics : "";
}

void cli_status_free(struct cli_status *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->rows[i].localizing);
        free(s->rows[i].diagnostics);
    }
    free(s->rows);
    *s = (struct cli_status){ 0 };
}

/* Copies without control characters: the text is printed on a terminal. */
static void copy(char *dst, size_t size, json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    sv_escape(dst, size, text ? text : "");
}

static int64_t number(json_t *object, const char *key, int64_t unknown)
{
    json_t *v = json_object_get(object, key);

    return json_is_integer(v) ? (int64_t)json_integer_value(v) : unknown;
}

static void row_from(json_t *j, struct cli_row *row)
{
    json_t *code = json_object_get(j, "exitCode");
    char text[DIAGNOSTICS_MAX];

    row->instance = (int)number(j, "instance", 0);
    row->number = (int)number(j, "number", row->instance);
    copy(row->group, sizeof(row->group), j, "group");
    row->tries = (int)number(j, "tries", 0);
    copy(row->state, sizeof(row->state), j, "state");
    copy(row->container, sizeof(row->container), j, "container");
    copy(row->node, sizeof(row->node), j, "node");
    copy(row->http, sizeof(row->http), j, "http");
    copy(text, sizeof(text), j, "diagnostics");
    if (*text)
        row->diagnostics = strdup(text); /* NULL when out of memory, ignoring */
    row->done = json_is_integer(code);
    row->exit_status = (int)json_integer_value(code);
    row->peak_bytes = row->cpu_ms = row->localize_ms = row->launch_ms = -1;
}

int cli_status_parse(const char *text, size_t len, struct cli_status *ret, struct sv_error *err)
{
    json_error_t where;
    json_t *root = json_loadb(text, len, 0, &where);
    json_t *list = json_object_get(root, "tasks");
    size_t n = json_array_size(list);
    struct cli_status s = { 0 };
    const char *name;
    int r = 0;

    if (!json_is_array(list))
        r = sv_error_set(err, -EBADMSG, "the ApplicationMaster's status: not as expected");
    else if (n > CLI_INSTANCES_MAX)
        r = sv_error_set(err, -EBADMSG,
                         "the ApplicationMaster's status has %zu containers; %d at most", n,
                         CLI_INSTANCES_MAX);
    else if (!(s.rows = calloc(n + 1, sizeof(*s.rows))))
        r = sv_error_errno(err, -ENOMEM, "the ApplicationMaster's status");
    if (r == 0) {
        name = json_string_value(json_object_get(root, "name"));
        snprintf(s.name, sizeof(s.name), "%s", name ? name : ""); /* JSON escapes it */
        s.finished = json_is_true(json_object_get(root, "finished"));
        s.done = (int)number(root, "done", 0);
        s.exit_code = (int)number(root, "exitCode", 1);
        s.repeated_exits = (int)number(root, "repeatedExits", 0);
        s.n = n;
        for (size_t i = 0; i < n; i++)
            row_from(json_array_get(list, i), &s.rows[i]);
        *ret = s;
    }
    json_decref(root);
    return r;
}

/* Reads "memory, pids, cpu" from a list or a text. */
static void read_not_enforced(struct cli_row *row, json_t *v)
{
    size_t i, used = 0;
    json_t *item;

    char name[sizeof(row->not_enforced)];

    if (json_is_string(v))
        sv_escape(row->not_enforced, sizeof(row->not_enforced), json_string_value(v));
    json_array_foreach(v, i, item)
    {
        int n;

        sv_escape(name, sizeof(name), json_is_string(item) ? json_string_value(item) : "?");
        n = snprintf(row->not_enforced + used, sizeof(row->not_enforced) - used, "%s%s",
                     used ? ", " : "", name);

        if (n < 0 || (size_t)n >= sizeof(row->not_enforced) - used)
            break;
        used += (size_t)n;
    }
}

void cli_row_usage(struct cli_row *row, const char *text, size_t len)
{
    json_t *root = json_loadb(text, len, 0, NULL);
    json_t *container = json_object_get(root, "container");
    json_t *own = json_object_get(container, "selvedge");
    const char *state = json_string_value(json_object_get(container, "state"));

    free(row->localizing);
    row->localizing = cli_localizing_read(container);
    if (row->localizing) /* its ApplicationMaster has started it */
        snprintf(row->state, sizeof(row->state), "LOCALIZING");
    else if (state && strcmp(state, "PAUSED") == 0) /* it knows nothing of that */
        snprintf(row->state, sizeof(row->state), "PAUSED");
    row->peak_bytes = number(own, "peakMemoryBytes", row->peak_bytes);
    row->cpu_ms = number(own, "cpuTimeMs", row->cpu_ms);
    row->localize_ms = number(own, "localizeMs", row->localize_ms);
    row->launch_ms = number(own, "launchMs", row->launch_ms);
    read_not_enforced(row, json_object_get(own, "limitsNotEnforced"));
    json_decref(root);
}

bool cli_row_ended(struct cli_row *row, const char *text, size_t len)
{
    json_t *root = json_loadb(text, len, 0, NULL);
    json_t *container = json_object_get(root, "container");
    const char *state = json_string_value(json_object_get(container, "state"));
    json_t *code = json_object_get(container, "exitCode");
    bool ended = state && strcmp(state, "DONE") == 0 && json_is_integer(code);

    if (ended) {
        cli_row_usage(row, text, len);
        snprintf(row->state, sizeof(row->state), "DONE");
        row->done = true;
        row->exit_status = (int)json_integer_value(code);
    }
    json_decref(root);
    return ended;
}

/* Prints one line per failed instance: where, code and meaning; YARN's own codes need their
 * diagnostics. Then the end of its error file. */
static void print_failures(const struct cli_status *s, int lines, FILE *out)
{
    size_t failed = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct cli_row *r = &s->rows[i];
        const char *text = diagnostics_of(r);
        const char *end = strstr(text, "\\x0a"); /* escaped by the ApplicationMaster */
        const char *meaning = sv_exit_meaning(r->exit_status, text);

        if (!r->done || r->exit_status == 0 || failed++ >= FAILURES_MAX)
            continue;
        if (r->instance >= 0 && *r->group)
            fprintf(out, "instance %d, %s %d,", r->instance, r->group, r->number);
        else if (r->instance >= 0)
            fprintf(out, "instance %d", r->instance);
        else
            fputs(r->container, out);
        fprintf(out, " on %s: exit code %d%s%s%s", *r->node ? r->node : "-", r->exit_status,
                meaning ? " (" : "", meaning ? meaning : "", meaning ? ")" : "");
        if (r->exit_status < 0 && *text)
            fprintf(out, ": %.*s", end ? (int)(end - text) : (int)strlen(text), text);
        fputc('\n', out);
        (void)cli_diagnostics_tail(text, lines, "    ", out);
    }
    if (failed > FAILURES_MAX)
        fprintf(out, "and %zu more failed instances\n", failed - FAILURES_MAX);
}

/* `shown`: of group and number, which only jobs with groups have. */
#define COLUMNS(shown)                                                                             \
    { ">INSTANCE", "instance", CLI_NUMBER, CLI_ALWAYS }, { "GROUP", "group", CLI_TEXT, shown },    \
        { ">NUMBER", "number", CLI_NUMBER, shown },
#define REST_OF_COLUMNS                                                                            \
    { "CONTAINER", "container", CLI_TEXT, CLI_ALWAYS }, { "NODE", "node", CLI_TEXT, CLI_ALWAYS },  \
        { "STATE", "state", CLI_TEXT, CLI_ALWAYS },                                                \
        { ">EXIT", "exitCode", CLI_NUMBER, CLI_ALWAYS },                                           \
        { ">TRIES", "tries", CLI_NUMBER, CLI_IF_WIDE },                                            \
        { "?>PEAK MEM", "peakMemoryBytes", CLI_BYTES, CLI_ALWAYS },                                \
        { "?>CPU TIME", "cpuTimeMs", CLI_MILLIS, CLI_ALWAYS },                                     \
        { "?>LOCALIZE", "localizeMs", CLI_MILLIS, CLI_ALWAYS },                                    \
        { "?>LAUNCH", "launchMs", CLI_MILLIS, CLI_ALWAYS },                                        \
        { ">FETCHED", "localizedBytes", CLI_BYTES, CLI_IF_WIDE },                                  \
        { ">OF", "localizeTotalBytes", CLI_BYTES, CLI_IF_WIDE },                                   \
        { ">PER SECOND", "localizeBytesPerSecond", CLI_BYTES, CLI_IF_WIDE },                       \
        { ">LEFT", "localizeRemainingMs", CLI_MILLIS, CLI_IF_WIDE },                               \
        { "NOT ENFORCED", "limitsNotEnforced", CLI_TEXT, CLI_IF_WIDE },                            \
        { "DIAGNOSTICS", "diagnostics", CLI_TEXT, CLI_IF_WIDE },
static const struct cli_column columns[] = { COLUMNS(CLI_AS_FIELD) REST_OF_COLUMNS };
const struct cli_list cli_containers = CLI_LIST(columns, "container");
static const struct cli_column grouped_columns[] = { COLUMNS(CLI_ALWAYS) REST_OF_COLUMNS };
static const struct cli_list grouped = CLI_LIST(grouped_columns, "container");

static bool has_groups(const struct cli_status *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (*s->rows[i].group)
            return true;
    return false;
}

static json_t *row_object(const struct cli_row *r)
{
    json_t *row = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "instance",
        cli_json_known(r->instance), "group", *r->group ? cli_json_string(r->group) : json_null(),
        "number", cli_json_known(*r->group ? r->number : r->instance), "container",
        cli_json_string(r->container), "node", cli_json_string(r->node), "state",
        cli_json_string(r->state), "tries", r->tries, "exitCode",
        r->done ? json_integer(r->exit_status) : json_null(), "peakMemoryBytes",
        cli_json_known(r->peak_bytes), "cpuTimeMs", cli_json_known(r->cpu_ms), "localizeMs",
        cli_json_known(r->localize_ms), "launchMs", cli_json_known(r->launch_ms),
        "limitsNotEnforced", cli_json_string(r->not_enforced), "diagnostics",
        cli_json_string(diagnostics_of(r)));

    cli_localizing_put(row, r->localizing);
    return row;
}

json_t *cli_status_object(const struct cli_status *s, const char *app)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n; i++)
        (void)json_array_append_new(list, row_object(&s->rows[i]));
    return json_pack("{s:s, s:o, s:b, s:i, s:i, s:o}", "application", app, "name",
                     cli_json_string(s->name), "finished", s->finished, "exitCode", s->exit_code,
                     "repeatedExits", s->repeated_exits, "containers", list);
}

/* Prints a line per file that is being fetched. */
static void print_localizing(const struct cli_status *s, FILE *out)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->rows[i].localizing)
            cli_localizing_print(s->rows[i].localizing, s->rows[i].container, out);
}

static void print_not_enforced(const struct cli_status *s, FILE *out)
{
    for (size_t i = 0; i < s->n; i++)
        if (*s->rows[i].not_enforced) {
            fprintf(out, "%s limits not enforced (the node's cgroup v2 lacks the controllers)\n",
                    s->rows[i].not_enforced);
            return;
        }
}

void cli_status_print(const struct cli_status *s, const char *app, const struct cli_output *o,
                      int lines, FILE *out)
{
    json_t *root = cli_status_object(s, app);

    if (o->format == CLI_JSON || o->format == CLI_YAML) {
        cli_output_json(o, root, out);
        return;
    }
    if (s->n > 0)
        cli_output_list(o, has_groups(s) ? &grouped : &cli_containers,
                        json_object_get(root, "containers"), out);
    json_decref(root);
    if (s->n > 0 && !o->quiet && (o->format == CLI_TABLE || o->format == CLI_WIDE)) {
        print_failures(s, lines, out);
        if (o->format == CLI_WIDE)
            print_localizing(s, out);
        print_not_enforced(s, out);
    }
}
