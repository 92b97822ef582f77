/* Fuzzes the command line's input from peers: REST answers of ResourceManagers and NodeManagers,
 * the status of an ApplicationMaster, framed logs. For any input, all formats print it without
 * control characters. The first byte selects the reader and the format. */
#include <stdlib.h>
#include <string.h>

#include "client/commands/usage.h"
#include "client/http/log-unframe.h"
#include "client/http/peer-answer.h"
#include "client/ui/output.h"
#include "client/views/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static const struct cli_column columns[] = {
    { "ID", "id", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { ">MEMORY", "memoryMb", CLI_MIB, CLI_ALWAYS },
    { ">USED", "memoryBytes", CLI_BYTES, CLI_ALWAYS },
    { ">CPU", "cpuCores", CLI_SHARE, CLI_ALWAYS },
    { ">TIME", "cpuTimeMs", CLI_MILLIS, CLI_ALWAYS },
    { "STARTED", "startedTime", CLI_TIME, CLI_ALWAYS },
    { "NODE", "node", CLI_TEXT, CLI_IF_WIDE },
};
static const struct cli_list list = CLI_LIST(columns, "id");

static const struct cli_output formats[] = {
    { .format = CLI_TABLE },
    { .format = CLI_WIDE, .utc = true },
    { .format = CLI_JSON },
    { .format = CLI_YAML },
    { .format = CLI_NAME },
    { .format = CLI_FIELDS, .fields = "id,state,diagnostics" },
    { .format = CLI_TABLE, .quiet = true, .no_headers = true },
};

static void must_be_clean(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        MUST(text[i] == '\n' || text[i] == '\t' || (text[i] >= ' ' && text[i] < 0x7f));
}

static void print(const struct cli_output *o, const json_t *rows, const struct cli_status *status)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    MUST(out);
    if (status)
        cli_status_print(status, "application_1_0001", o, CLI_TAIL_LINES, out);
    else
        cli_output_list(o, &list, rows, out);
    MUST(fclose(out) == 0);
    must_be_clean(text, size);
    free(text);
}

/* The sums of an application over the containers that a node lists. */
static json_t *usage_of(json_t *containers)
{
    json_t *app = json_pack("{s:s}", "id", "application_1_0001");
    struct cli_usage u;
    json_t *sorted;

    MUST(cli_usage_init(&u) == 0);
    cli_usage_add_app(&u, json_incref(app));
    cli_usage_add_node(&u, containers, NULL);
    MUST(json_integer_value(json_object_get(app, "memoryBytes")) >= 0);
    MUST(json_number_value(json_object_get(app, "cpuCores")) >= 0);
    sorted = cli_usage_sorted(u.containers, CLI_USAGE_BY_MEMORY);
    MUST(json_array_size(sorted) == json_array_size(u.containers));
    json_decref(app);
    cli_usage_free(&u);
    return sorted;
}

/* The text of a framed log lies within the bytes. */
static void log_of(const char *data, size_t size)
{
    char *body = malloc(size + 1); /* with a NUL, as cli_fetch_get() has it */
    struct cli_log_frame frame;

    MUST(body);
    memcpy(body, data, size);
    body[size] = '\0';
    if (cli_log_unframe(body, size, &frame))
        MUST(frame.text > body && frame.len <= frame.announced &&
             frame.len <= size - (size_t)(frame.text - body));
    free(body);
}

static json_t *one(json_t *object)
{
    return object ? json_pack("[o]", object) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *body = (const char *)data + 1;
    const struct cli_output *o;
    struct cli_status status;
    struct cli_row row = { .peak_bytes = -1 };
    json_t *rows = NULL;

    if (size < 1)
        return 0;
    o = &formats[data[0] / 8 % SV_ARRAY_LEN(formats)];
    size--;
    log_of(body, size);
    switch (data[0] % 8) {
    case 0:
        rows = one(cli_answer_app(body, size));
        break;
    case 1:
        rows = one(cli_answer_cluster(body, size));
        break;
    case 2:
        rows = one(cli_answer_node(body, size));
        break;
    case 3:
        rows = one(cli_answer_container(body, size));
        break;
    case 4:
        rows = cli_answer_containers(body, size);
        break;
    case 5:
        rows = cli_answer_containers(body, size);
        rows = rows ? usage_of(rows) : NULL;
        break;
    case 6:
        if (cli_status_parse(body, size, &status, NULL) == 0) {
            print(o, NULL, &status);
            cli_status_free(&status);
        }
        break;
    default:
        cli_row_usage(&row, body, size);
        print(o, NULL, &(struct cli_status){ .rows = &row, .n = 1 });
        free(row.localizing);
    }
    if (rows)
        print(o, rows, NULL);
    json_decref(rows);
    return 0;
}
